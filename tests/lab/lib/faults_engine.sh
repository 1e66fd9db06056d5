# shellcheck shell=bash
# Faults of the engine and the GPUs: switches that the stand-in reads.

standin() { # NODE set KEY JSON | NODE unset KEY
  local i=$1
  shift
  /usr/bin/python3 -IS "$LAB_HOME/lib/json_edit.py" "$(node_dir "$i")/data/hf_models/Kimi-K3/.standin.json" "$@"
}

gpu_state() { # NODE set KEY JSON | NODE unset KEY
  local i=$1
  shift
  in_node "$i" /usr/bin/python3 -IS - /run/nvidia-standin/state.json "$@" <"$LAB_HOME/lib/json_edit.py"
}

engine_phase() {
  case $1 in
    args | dist | weights | kernels | kv | graphs | http | warmup | ready) ;;
    *) say "no phase '$1': args, dist, weights, kernels, kv, graphs, http, warmup, ready"; return 1 ;;
  esac
}

a_number() { [[ $1 =~ ^[0-9]+(\.[0-9]+)?$ ]] || { say "a number is needed, got '$1'"; return 1; }; }

fault_engine_exit() {
  local phase=${2%%:*} id=''
  [[ $2 != *:* ]] || id=${2#*:}
  engine_phase "$phase" && standin "$1" set exit "{\"phase\": \"$phase\"${id:+, \"id\": \"$id\"}}"
}
heal_engine_exit() { standin "$1" unset exit; }

fault_engine_hang() { engine_phase "$2" && standin "$1" set hang "{\"phase\": \"$2\"}"; }
heal_engine_hang() { standin "$1" unset hang; }

fault_engine_slow() { a_number "$2" && standin "$1" set slow "{\"phase\": \"weights\", \"seconds\": $2}"; }
heal_engine_slow() { standin "$1" unset slow; }

fault_engine_die() {
  case ${2:-schedulers} in
    schedulers | stuck | exit) standin "$1" set die_after_ready "{\"mode\": \"${2:-schedulers}\"}" ;;
    *) say "engine-die takes schedulers, stuck or exit"; return 1 ;;
  esac
}
heal_engine_die() { standin "$1" unset die_after_ready; }

fault_wrong_answer() { standin "$1" set wrong_answer true; }
heal_wrong_answer() { standin "$1" unset wrong_answer; }

fault_comma_answer() { standin "$1" set answer_style '"comma"'; }
heal_comma_answer() { standin "$1" unset answer_style; }

fault_health_503() { standin "$1" set health 503; }
heal_health_503() { standin "$1" unset health; }

fault_slow_stop() { a_number "$2" && standin "$1" set drain "$2"; }
heal_slow_stop() { standin "$1" unset drain; }

fault_ignore_sigterm() { standin "$1" set ignore_sigterm true; }
heal_ignore_sigterm() { standin "$1" unset ignore_sigterm; }

gpu_list() { [[ $1 =~ ^[0-7](,[0-7])*$ ]] || { say "GPUs are named as 0,1, got '$1'"; return 1; }; }

fault_gpu_held() {
  local gpus=${2:-0,1} pid
  gpu_list "$gpus" || return 1
  node_background "$1" gpu-held bash -c 'exec -a "python3 /home/other/train.py" sleep infinity' || return 1
  pid=$(in_node "$1" cat /run/sskj-lab-gpu-held.pid)
  gpu_state "$1" set apps "[{\"pid\": $pid, \"name\": \"python3\", \"gpus\": [$gpus], \"mib\": 40960}]"
}
heal_gpu_held() { node_background_end "$1" gpu-held && gpu_state "$1" unset apps; }

fault_gpu_held_ghost() {
  local list json
  gpu_list "${2:-0,1}" || return 1
  IFS=, read -ra list <<<"${2:-0,1}"
  printf -v json '"%s": 40960,' "${list[@]}"
  gpu_state "$1" set ghost "{${json%,}}"
}
heal_gpu_held_ghost() { gpu_state "$1" unset ghost; }

fault_gpu_missing() { gpu_list "${2:-7}" && gpu_state "$1" set missing "[${2:-7}]"; }
heal_gpu_missing() { gpu_state "$1" unset missing; }

fault_driver_mismatch() { gpu_state "$1" set nvml '"Failed to initialize NVML: Driver/library version mismatch"'; }
heal_driver_mismatch() { gpu_state "$1" unset nvml; }
