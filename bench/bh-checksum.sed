# Makes the bh programs of the NESL/GPU distribution return what they compute. As they are they drop
# the accelerations and return a count, so that most of their work is dead; with this their results
# include the sums of the three components.
#
#   sed -f bench/bh-checksum.sed bh.1000.vcode > bh-checksum.1000.vcode
/^FUNC BH_/,/^RET/ {
  # Stack: descriptor, x, y, z, count, time.
  s/^POP 4 2$/CPOP 4 2\
COPY 1 3\
+_REDUCE FLOAT\
CPOP 1 1\
COPY 1 3\
+_REDUCE FLOAT\
CPOP 1 2\
COPY 1 3\
+_REDUCE FLOAT\
CPOP 1 3\
POP 1 0\
CPOP 2 3/
}
