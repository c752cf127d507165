#!/bin/sh
# Runs a packed Backstamp: `backstamp start`, `backstamp worker`, or any other command of the command line.
folder=$(dirname "$(readlink -f "$0")")
# The texts of the program name this command instead of `npm run`.
export BACKSTAMP_CLI=backstamp
case ${1-} in
  start) exec node "$folder/.next/backstamp/launch.mjs" "$@" ;;
  *) exec node "$folder/.next/backstamp/admin.mjs" "$@" ;;
esac
