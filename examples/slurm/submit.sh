#!/bin/bash
# submit.sh WORKERS NAME… [options of fairbed reproduce]
# Starts so many workers and collects here what they do. Ctrl-C ends only the collecting: the same command goes on.
set -euo pipefail

if [ $# -lt 2 ]; then
  echo "usage: $0 WORKERS NAME… [options], such as: $0 8 table-ratios --out reproduction" >&2
  exit 2
fi
: "${FAIRBED_QUEUE:?set it to the address of the queue, such as postgres://user@host:5432/database}"

workers=$1
shift
job=$(sbatch --parsable --array="1-$workers" "$(dirname "$0")/worker.sbatch")
echo "workers: job $job (scancel $job ends them)" >&2
exec ${FAIRBED:-fairbed} reproduce "$@"
