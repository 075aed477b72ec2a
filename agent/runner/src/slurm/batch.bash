# It watches over the pods of a run that are on this node, and records their end. Whatever becomes of the agent and of
# Slurm's controller meanwhile, an order that stands in stop-in is carried out.
set -m
told=0 order='' leave='' kill_at='' term_at='' heard='' next_look=0 next_sign=0 bad=''
trap 'next_look=0' USR2
# Slurm sends it to everything in the job. The pods end by it, and how is to be recorded.
trap : TERM
exec {nap}<> <(:)

# The node's own clock, which only rises.
moment() { local up; read -r up _ < /proc/uptime; now=$((10#${up/./} * 10)); }
# A file that is there whole or not at all.
put() { printf '%s\n' "$2" > ".$1.$SLURM_JOB_ID" && mv -f ".$1.$SLURM_JOB_ID" "$1"; }
finish() { put "exit-$part" "$1"; exit "$2"; }
to_groups() { local pid; for pid in "${pids[@]}"; do kill -s "$1" -- "-$pid" 2> /dev/null; done; }

# Begins to stop, or stops sooner.
stop_within() {
  local due=$((now + $1)) pid
  if [ -z "$kill_at" ]; then
    told=1 kill_at=$due term_at=$now
    : > "asked-$part"
    if [ -n "$checkpoint_signal" ] && [ "$1" -gt 0 ]; then
      for pid in "${pids[@]}"; do kill -s "$checkpoint_signal" "$pid" 2> /dev/null; done
      term_at=$((now + $1 / 2))
    fi
  elif [ "$due" -lt "$kill_at" ]; then
    kill_at=$due
  fi
}

look() {
  local said=''
  next_look=$((now + 2000))
  read -r said < stop-in
  if [ -n "$said" ] && [ "$said" != "$order" ]; then order=$said; stop_within "$said"; fi
  said='' ; read -r said < "leave-$part"
  if [ -n "$said" ] && [ "$said" != "$leave" ]; then leave=$said; stop_within "$said"; fi
  if [ -n "$stop_after" ]; then
    said='' ; read -r said < ../../heard
    if [ "$said" != "$heard" ]; then heard=$said heard_at=$now; fi
    if [ -z "$kill_at" ] && [ "$((now - heard_at))" -ge "$stop_after" ]; then stop_within 30000; fi
  fi
} 2> /dev/null

carry_out_stop() {
  if [ -n "$term_at" ] && { [ "$now" -ge "$term_at" ] || [ "$now" -ge "$kill_at" ] || [ checkpoint -nt "asked-$part" ]; }; then
    term_at=''
    to_groups TERM
  fi
  if [ "$now" -ge "$kill_at" ]; then to_groups KILL; fi
}

collect() {
  local at pid
  living=0
  for at in "${!pids[@]}"; do
    pid=${pids[at]}
    if [ -n "${codes[at]}" ]; then continue; fi
    if kill -0 "$pid" 2> /dev/null; then living=$((living + 1)); continue; fi
    wait "$pid"
    codes[at]=$?
    if [ "${codes[at]}" -ne 0 ] && [ -z "$bad" ]; then bad=${codes[at]}; fi
  done
}

moment
heard_at=$now
if ! cd -- "$directory" 2> /dev/null; then finish "command 0 $directory: there is no such directory on $node" 127; fi
if ! (surroundings; type -P -- "$program" > /dev/null); then
  cd "$folder"
  finish "command 0 $program: there is no such command on $node" 127
fi
cd "$folder"
IFS=, read -r -a devices <<< "${CUDA_VISIBLE_DEVICES:-$SLURM_JOB_GPUS}"
pids=() codes=()
for at in "${!gpus[@]}"; do
  mine=("${devices[@]:0:gpus[at]}") devices=("${devices[@]:gpus[at]}")
  visible=$(IFS=,; echo "${mine[*]}")
  if [ -n "${tags[at]}" ]; then
    # One file is what all of them print: each line says whose it is. Who writes that is in the pod's group, and outlives the
    # signals to it: the pod may have something to say when it is told to end.
    CUDA_VISIBLE_DEVICES=$visible "pod_$at" < /dev/null > >(trap '' TERM USR1 USR2 INT HUP; exec sed -u "s/^/${tags[at]}/") 2>&1 &
  else
    CUDA_VISIBLE_DEVICES=$visible "pod_$at" < /dev/null &
  fi
  pids+=($!)
done
while collect; [ "$living" -gt 0 ] && [ -z "$bad" ]; do
  moment
  if [ "$now" -ge "$next_sign" ]; then put "alive-$part" "$now"; next_sign=$((now + 10000)); fi
  if [ "$now" -ge "$next_look" ]; then look; fi
  if [ -n "$kill_at" ]; then carry_out_stop; fi
  read -rt 0.1 -u "$nap"
done
to_groups KILL
# What they have printed last is on its way.
if [ -n "${tags[0]}" ]; then read -rt 0.2 -u "$nap"; fi
finish "code $told ${bad:-0}" "${bad:-0}"
