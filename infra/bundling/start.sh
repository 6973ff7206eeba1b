#!/bin/sh
# Lambda's own script starts Node with limits of the heap that it derives from the function's memory, and an option on
# the command line counts more than NODE_OPTIONS. Lambda runs this file with that command line (AWS_LAMBDA_EXEC_WRAPPER),
# so that the limits in NODE_OPTIONS count.
for argument do
  shift
  case $argument in
    --max-semi-space-size=* | --max-old-space-size=*) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec "$@"
