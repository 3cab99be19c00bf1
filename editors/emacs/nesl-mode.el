;;; nesl-mode.el --- Editing and running NESL programs  -*- lexical-binding: t; -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "25.1"))
;; Keywords: languages

;;; Commentary:

;; Highlighting and indentation for NESL, and an inferior `nesl' to which forms,
;; regions and files are sent.  Put this file into a folder of `load-path' and
;;
;;   (require 'nesl-mode)
;;
;; into the init file.  Keys in a NESL buffer:
;;
;;   C-c C-z   start or show the inferior nesl
;;   C-c C-c   send the form around point
;;   C-c C-r   send the region
;;   C-c C-l   load the file of the buffer
;;   C-c C-d   describe the name at point
;;   C-M-a, C-M-e   beginning and end of the form
;;
;; With eglot, `nesl lsp' shows errors and types as you type.

;;; Code:

(require 'comint)

(defgroup nesl nil
  "Editing and running NESL programs."
  :group 'languages)

(defcustom nesl-program "nesl"
  "The program that `run-nesl' starts."
  :type 'string)

(defcustom nesl-program-arguments nil
  "Arguments of `nesl-program', such as (\"--memory\" \"2G\")."
  :type '(repeat string))

(defcustom nesl-indent-offset 2
  "Columns by which the parts of a form are indented."
  :type 'integer
  :safe #'integerp)

;;;; Words of the language

(defconst nesl-keywords
  '("and" "closure" "datatype" "else" "function" "if" "in" "let" "nand" "nor"
    "or" "pair" "then" "xor")
  "The reserved words.")

(defconst nesl-commands
  '("apropos" "defconfig" "describe" "dump" "edit" "exit" "get" "help" "import" "lisp"
    "load" "set" "shell" "show")
  "Words that are commands at the beginning of a form.")

(defconst nesl-types
  '("bool" "char" "float" "int" "stream")
  "The types that have names of their own.")

(defvar nesl-font-lock-keywords
  `(("\\_<function\\_>[ \t\n]+\\([a-z_][a-z0-9_]*\\)"
     1 font-lock-function-name-face)
    ("\\_<datatype\\_>[ \t\n]+\\([a-z_][a-z0-9_]*\\)"
     1 font-lock-type-face)
    (,(concat "^" (regexp-opt nesl-commands 'symbols)) . font-lock-builtin-face)
    (,(regexp-opt nesl-keywords 'symbols) . font-lock-keyword-face)
    (,(regexp-opt nesl-types 'symbols) . font-lock-type-face)
    ("\\_<\\(?:[tf]\\|time\\)\\_>" . font-lock-constant-face)
    ("`." . font-lock-string-face))
  "What is highlighted in a NESL buffer, besides comments and strings.")

(defvar nesl-mode-syntax-table
  (let ((table (make-syntax-table)))
    ;; A comment begins and ends with the same character.
    (modify-syntax-entry ?% "!" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?\\ "\\" table)
    (modify-syntax-entry ?_ "_" table)
    (dolist (char '(?# ?@ ?+ ?- ?* ?/ ?< ?> ?= ?^ ?| ?& ?: ?\; ?, ?\` ?' ?! ?$))
      (modify-syntax-entry char "." table))
    table)
  "Syntax table of `nesl-mode'.")

;; The character behind a backquote is itself, even a quote or a percent sign.
(defun nesl-syntax-propertize (begin end)
  "Mark the characters behind backquotes between BEGIN and END."
  (goto-char begin)
  (funcall
   (syntax-propertize-rules
    ("`\\(\\(?:.\\|\n\\)\\)"
     (1 (unless (nth 8 (save-excursion (syntax-ppss (match-beginning 0))))
          (string-to-syntax "_")))))
   begin end))

;;;; Indentation

;; From the beginning of the form to the line in question the open constructs
;; are kept on a stack of lists (KIND COLUMN); KIND is one of the opening
;; brackets as a string, or one of the symbols
;;   form   the beginning of the form
;;   let    the bindings of a let; COLUMN is that of the let
;;   body   what follows `in' of a let
;;   if     the condition, or what follows `then'
;;   else   what follows `else'

(defconst nesl--token
  (concat "\\_<\\(?:let\\|in\\|if\\|else\\)\\_>" "\\|[][(){};$]")
  "What changes the indentation of the lines behind it.")

(defun nesl--pop-until (kinds stack)
  "STACK without what lies above the first entry of one of KINDS."
  (while (and (cdr stack) (not (member (caar stack) kinds)))
    (setq stack (cdr stack)))
  stack)

(defun nesl--change (token column stack)
  "STACK after TOKEN, which stands at COLUMN."
  (cond
   ((member token '("(" "[" "{"))
    (cons (list token column) stack))
   ((member token '(")" "]" "}"))
    (let ((open (nesl--pop-until '("(" "[" "{") stack)))
      (if (cdr open) (cdr open) open)))
   ((equal token "let") (cons (list 'let column) stack))
   ((equal token "if") (cons (list 'if column) stack))
   ((equal token "else")
    (let ((open (nesl--pop-until '(if "(" "[" "{") stack)))
      (if (eq (caar open) 'if)
          (cons (list 'else (cadr (car open))) (cdr open))
        stack)))
   ((equal token "in")
    ;; Inside braces `in' belongs to a generator, unless a let is open there.
    (let ((open (nesl--pop-until '(let "(" "[" "{") stack)))
      (if (eq (caar open) 'let)
          (cons (list 'body (cadr (car open))) (cdr open))
        stack)))
   ((equal token ";")
    (nesl--pop-until '(let "{") stack))
   ((equal token "$")
    (nesl--pop-until '(form) stack))
   (t stack)))

(defun nesl--form-begin ()
  "Move to the beginning of the form that the line of point belongs to."
  (let ((found nil))
    (while (and (not found) (not (bobp)))
      (forward-line -1)
      (setq found (and (looking-at "[^ \t\n\f%]")
                       (not (nth 8 (save-excursion (syntax-ppss (point))))))))
    found))

(defun nesl--token-column (begin stack)
  "The column of the token at BEGIN, before which STACK is open.
That of an `if' behind `else' is the column of the first `if'."
  (save-excursion
    (goto-char begin)
    (let ((column (current-column)))
      (skip-chars-backward " \t")
      (if (and (eq (caar stack) 'else)
               (looking-back "\\_<else" (line-beginning-position)))
          (cadr (car stack))
        column))))

(defun nesl--open-constructs (end)
  "The stack of what is open at END, in the form that point is at the begin of."
  (let ((stack (list (list 'form 0)))
        (case-fold-search t))
    (while (re-search-forward nesl--token end t)
      (let ((token (downcase (match-string-no-properties 0)))
            (begin (match-beginning 0)))
        (unless (or (nth 8 (save-excursion (syntax-ppss begin)))
                    (eq (char-before begin) ?\`))
          (setq stack
                (nesl--change token (nesl--token-column begin stack) stack)))))
    stack))

(defun nesl--last-token (begin)
  "The last word or other character before point, outside of comments.
Empty if there is none behind BEGIN."
  (save-excursion
    (forward-comment (- (point)))
    (let ((end (point)))
      (if (<= end begin)
          ""
        (when (zerop (skip-syntax-backward "w_" begin))
          (backward-char))
        (downcase (buffer-substring-no-properties (point) end))))))

(defun nesl--column ()
  "The column at which the line of point should begin."
  (save-excursion
    (beginning-of-line)
    (let ((line (point))
          (case-fold-search t))
      (cond
       ((nth 8 (syntax-ppss line)) nil)   ; inside a comment or string
       ((looking-at "[ \t]*\\_<\\(?:function\\|datatype\\)\\_>") 0)
       ((not (save-excursion (nesl--form-begin))) 0)
       (t
        (let* ((begin (save-excursion (nesl--form-begin) (point)))
               (stack (save-excursion (goto-char begin)
                                      (nesl--open-constructs line)))
               (last (nesl--last-token begin)))
          (nesl--column-within stack last)))))))

(defun nesl--column-within (stack last)
  "The column of a line before which STACK is open, and that follows LAST."
  (let* ((top (car stack))
         (kind (car top))
         (column (cadr top)))
    (cond
     ((and (eq kind 'form) (member last '(";" "$"))) 0)
     ((looking-at "[ \t]*[])}]")
      (cadr (car (nesl--pop-until '("(" "[" "{") stack))))
     ((looking-at "[ \t]*\\_<in\\_>")
      (let ((open (car (nesl--pop-until '(let "(" "[" "{") stack))))
        (if (eq (car open) 'let) (cadr open) (+ column nesl-indent-offset))))
     ((looking-at "[ \t]*\\_<\\(?:then\\|else\\)\\_>")
      (cadr (car (nesl--pop-until '(if) stack))))
     ((eq kind 'let)
      (if (member last '(";" "let")) (+ column 4) (+ column 6)))
     ((eq kind 'body) (+ column nesl-indent-offset))
     ((memq kind '(if else)) (+ column nesl-indent-offset))
     ((stringp kind) (1+ column))
     (t nesl-indent-offset))))

(defun nesl-indent-line ()
  "Indent the line of point as NESL."
  (interactive)
  (let ((column (nesl--column))
        (from-end (- (point-max) (point))))
    (if (null column)
        'noindent
      (indent-line-to (max 0 column))
      (when (> (- (point-max) from-end) (point))
        (goto-char (- (point-max) from-end))))))

;;;; Forms

(defun nesl-beginning-of-form ()
  "Move to the beginning of the form around point."
  (interactive)
  (beginning-of-line)
  (unless (and (looking-at "[^ \t\n\f%]")
               (not (nth 8 (save-excursion (syntax-ppss (point))))))
    (nesl--form-begin)))

(defun nesl-end-of-form ()
  "Move behind the `;' that ends the form around point."
  (interactive)
  (nesl-beginning-of-form)
  (let ((stack (list (list 'form 0)))
        (case-fold-search t)
        (done nil))
    (while (and (not done) (re-search-forward nesl--token nil 'move))
      (let ((token (downcase (match-string-no-properties 0)))
            (begin (match-beginning 0)))
        (unless (or (nth 8 (save-excursion (syntax-ppss begin)))
                    (eq (char-before begin) ?\`))
          (setq stack (nesl--change token 0 stack))
          (setq done (and (member token '(";" "$"))
                          (eq (caar stack) 'form))))))))

;;;; The inferior nesl

(define-derived-mode inferior-nesl-mode comint-mode "Inferior NESL"
  "Mode of the buffer in which `nesl' runs."
  (setq-local comint-prompt-regexp "^\\(?:nesl>\\|   \\.\\.\\) ")
  (setq-local comint-prompt-read-only t)
  ;; The line editing of nesl shows what it reads.
  (setq-local comint-process-echoes t))

;;;###autoload
(defun run-nesl ()
  "Start `nesl-program' in a buffer, or show it if it runs."
  (interactive)
  (pop-to-buffer
   (apply #'make-comint-in-buffer "nesl" "*nesl*" nesl-program nil
          nesl-program-arguments))
  (unless (derived-mode-p 'inferior-nesl-mode)
    (inferior-nesl-mode)))

(defun nesl--process ()
  "The process of the inferior nesl, which is started if need be."
  (unless (comint-check-proc "*nesl*")
    (save-window-excursion (run-nesl)))
  (get-buffer-process "*nesl*"))

(defun nesl--send (text)
  "Send TEXT to the inferior nesl and show its buffer."
  (let ((process (nesl--process)))
    (comint-send-string process (concat text "\n"))
    (display-buffer (process-buffer process))))

(defun nesl-send-region (begin end)
  "Send the text between BEGIN and END to the inferior nesl."
  (interactive "r")
  (nesl--send (buffer-substring-no-properties begin end)))

(defun nesl-send-form ()
  "Send the form around point to the inferior nesl."
  (interactive)
  (save-excursion
    (nesl-end-of-form)
    (let ((end (point)))
      (nesl-beginning-of-form)
      (nesl-send-region (point) end))))

(defun nesl-load-file ()
  "Save the buffer, and load its file into the inferior nesl."
  (interactive)
  (save-buffer)
  (nesl--send (format "load \"%s\";" (buffer-file-name))))

(defun nesl-describe (name)
  "Ask the inferior nesl about NAME."
  (interactive
   (let ((name (thing-at-point 'symbol t)))
     (list (read-string (if name (format "Describe (%s): " name) "Describe: ")
                        nil nil name))))
  (nesl--send (format "describe %s;" name)))

;;;; The mode

(defvar nesl-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-z") #'run-nesl)
    (define-key map (kbd "C-c C-c") #'nesl-send-form)
    (define-key map (kbd "C-c C-r") #'nesl-send-region)
    (define-key map (kbd "C-c C-l") #'nesl-load-file)
    (define-key map (kbd "C-c C-d") #'nesl-describe)
    (define-key map (kbd "C-M-a") #'nesl-beginning-of-form)
    (define-key map (kbd "C-M-e") #'nesl-end-of-form)
    map)
  "Keys of `nesl-mode'.")

;;;###autoload
(define-derived-mode nesl-mode prog-mode "NESL"
  "Mode for editing NESL programs.

\\{nesl-mode-map}"
  (setq-local comment-start "% ")
  (setq-local comment-end " %")
  (setq-local comment-start-skip "%+[ \t]*")
  (setq-local syntax-propertize-function #'nesl-syntax-propertize)
  (setq-local font-lock-defaults '(nesl-font-lock-keywords nil t))
  (setq-local indent-line-function #'nesl-indent-line))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.nesl\\'" . nesl-mode))

(with-eval-after-load 'eglot
  (defvar eglot-server-programs)
  (add-to-list 'eglot-server-programs '(nesl-mode . ("nesl" "lsp"))))

(provide 'nesl-mode)

;;; nesl-mode.el ends here
