#!/bin/sh
# Runs a packed Backstamp: `backstamp start`, `backstamp worker`, or any other command of the command line.
folder=$(dirname "$(readlink -f "$0")")
# The texts of the program name this command instead of `npm run`.
export BACKSTAMP_CLI=backstamp
case ${1-} in
  start) program=launch ;;
  *) program=admin ;;
esac
# Node 24 lets each half of the young generation grow to 64 MB, Node 20 to 16. More than 8 make it no faster.
exec node --max-semi-space-size=8 "$folder/.next/backstamp/$program.mjs" "$@"
