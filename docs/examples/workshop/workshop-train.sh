#!/bin/sh
# A small training loop: it fits a line to the points of y = 3 x + 7 by gradient descent, one point a step, and is in no
# hurry. Told to stop it writes a checkpoint, and started again it goes on from there.
#
#   STEPS            how many steps it takes; 20000 unless set
#   PAUSE            how many seconds a step takes; 1 unless set
#   WORKSHOP_FOLDER  where the checkpoint is kept; the folder of the run unless set
set -eu

steps=${STEPS:-20000}
pause=${PAUSE:-1}
job=${TIDEGATE_JOB:-train}
checkpoint=${WORKSHOP_FOLDER:-.}/$job.checkpoint
# Numbers are in millionths: a shell has whole ones only.
one=1000000
step=0 slope=0 offset=0

# A line of text by a format. Seconds since the machine was started stand before it: by them the lines of several jobs can be
# compared.
say() {
  read -r now rest </proc/uptime
  format=$1
  shift
  # shellcheck disable=SC2059
  printf "[%s] $format\n" "$now" "$@"
}

# The whole file or the old one: whoever is killed here has lost nothing. Of several pods the first one keeps it for all.
save() {
  [ "${RANK:-0}" = 0 ] || return 0
  printf '%d %d %d\n' "$step" "$slope" "$offset" >"$checkpoint.new"
  mv "$checkpoint.new" "$checkpoint"
  # It is seen from this file that there is a new checkpoint.
  if [ -n "${TIDEGATE_CHECKPOINT:-}" ]; then echo "$step" >"$TIDEGATE_CHECKPOINT"; fi
  say 'checkpoint at step %d (%s)' "$step" "$1"
}

resume() {
  [ -e "$checkpoint" ] || return 0
  read -r step slope offset <"$checkpoint" || true
  case "$step$slope$offset" in
    *[!0-9]*) offset= ;;
  esac
  [ -z "$offset" ] || return 0
  say 'the checkpoint %s cannot be read: begins anew' "$checkpoint"
  step=0 slope=0 offset=0
}

# A signal is only noted, so that it finds no half of a step. It interrupts the wait below, and SIGTERM the sleep as well.
is_asked= is_told=
trap 'is_asked=yes' USR1
trap 'is_told=yes' TERM INT

resume
if [ "$step" = 0 ]; then begins=begins; else begins="goes on from step $step"; fi
say '%s %s: %d steps, on node %s, GPUs %s' "$job" "$begins" "$steps" "${TIDEGATE_NODE:-none}" "${CUDA_VISIBLE_DEVICES:-none}"
while [ "$step" -lt "$steps" ]; do
  sleep "$pause" &
  [ -n "$is_asked$is_told" ] || wait $! || true
  if [ -n "$is_asked" ]; then
    is_asked=
    save 'asked by SIGUSR1'
  fi
  if [ -n "$is_told" ]; then
    save 'told to end'
    exit 0
  fi
  x=$((step % 9))
  error=$((slope * x + offset - (3 * x + 7) * one))
  step=$((step + 1)) slope=$((slope - error * x / 5000)) offset=$((offset - error / 5000))
  say 'step %d of %d: y = %d.%03d x + %d.%03d' "$step" "$steps" \
    $((slope / one)) $((slope % one / 1000)) $((offset / one)) $((offset % one / 1000))
  if [ $((step % 60)) = 0 ]; then save 'every 60 steps'; fi
done
rm -f "$checkpoint"
say '%s is done' "$job"
