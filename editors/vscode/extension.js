// Starts the language server `nesl lsp`, and runs files and selections in a terminal.
"use strict";

const vscode = require("vscode");

let client;
let terminal;

function settings() {
  return vscode.workspace.getConfiguration("nesl");
}

function quoted(word) {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return process.platform === "win32" ? `"${word}"` : `'${word.replace(/'/g, "'\\''")}'`;
}

async function startServer() {
  if (!settings().get("languageServer")) return;
  const { LanguageClient } = require("vscode-languageclient/node");
  client = new LanguageClient(
    "nesl",
    "NESL",
    { command: settings().get("path"), args: ["lsp"] },
    { documentSelector: [{ language: "nesl" }] }
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    vscode.window.showWarningMessage(
      `NESL: the language server did not start (${error.message}). ` +
        "Set nesl.path to the program nesl, or nesl.languageServer to false."
    );
  }
}

async function stopServer() {
  const running = client;
  client = undefined;
  if (running) await running.stop();
}

async function runFile() {
  const document = vscode.window.activeTextEditor?.document;
  if (!document) return;
  await document.save();
  const words = [settings().get("path"), "run", ...settings().get("arguments"), document.fileName];
  const runner = vscode.window.createTerminal("nesl run");
  runner.show(true);
  runner.sendText(words.map(quoted).join(" "));
}

function prompt() {
  if (!terminal || terminal.exitStatus !== undefined) {
    terminal = vscode.window.createTerminal({
      name: "nesl",
      shellPath: settings().get("path"),
      shellArgs: settings().get("arguments"),
    });
  }
  return terminal;
}

function runSelection() {
  const editor = vscode.window.activeTextEditor;
  if (!editor) return;
  const range = editor.selection.isEmpty
    ? editor.document.lineAt(editor.selection.active.line).range
    : editor.selection;
  const target = prompt();
  target.show(true);
  target.sendText(editor.document.getText(range));
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("nesl.runFile", runFile),
    vscode.commands.registerCommand("nesl.runSelection", runSelection),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (!change.affectsConfiguration("nesl")) return;
      await stopServer();
      await startServer();
    })
  );
  await startServer();
}

module.exports = { activate, deactivate: stopServer };
