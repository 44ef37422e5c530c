#!/bin/sh
# Prints TAP; exits 1 if a test fails.
failed=0
expect() { # name, expected, actual
  if [ "$2" = "$3" ]; then echo "ok - $1"; else
    echo "not ok - $1"; echo "# expected: $2"; echo "# actual:   $3"; failed=1
  fi
}
expect greets_the_world "Hello, world!" "$(sh greet.sh)"
expect greets_by_name "Hello, Ada!" "$(sh greet.sh Ada)"
exit $failed
