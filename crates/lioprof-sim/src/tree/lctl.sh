#!/bin/sh
# A stand-in for Lustre's lctl that works on the simulated server whose tree this file is in.
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
prog=lctl

fail() {
    echo "error: $1" >&2
    exit "${2:-1}"
}

# Paths of a parameter pattern, one per line. Dots separate the parts, except in a NID.
find_param() {
    pattern=$(printf '%s' "$1" | sed -e ':a' -e 's/\([0-9]\)\.\([0-9][0-9.]*@\)/\1\n\2/' -e 'ta' -e 'y|.\n|/.|')
    found=
    for place in sys/fs/lnet sys/fs/lustre sys/kernel/debug/lnet sys/kernel/debug/lustre \
        proc/fs/lnet proc/fs/lustre proc/sys/lnet proc/sys/lustre; do
        for path in "$root/$place"/$pattern; do
            if [ -e "$path" ]; then
                echo "$path"
                found=1
            fi
        done
    done
    [ -n "$found" ]
}

# The name of a parameter from its path.
name_of() {
    name=${1#"$root"/}
    for place in sys/fs sys/kernel/debug proc/fs proc/sys; do
        name=${name#"$place"/lnet/}
        name=${name#"$place"/lustre/}
    done
    echo "$name" | tr / .
}

control() {
    find_param "$1" | head -n 1
}

get_param() {
    names=1 only=
    while [ $# -gt 0 ]; do
        case $1 in
        -n) names= ;;
        -N) only=1 ;;
        *) break ;;
        esac
        shift
    done
    [ $# -gt 0 ] || fail "get_param: missing parameter name" 22
    rc=0
    for parameter in "$@"; do
        paths=$(find_param "$parameter") || {
            echo "error: get_param: param_path '$parameter': No such file or directory" >&2
            rc=2
            continue
        }
        for path in $paths; do
            if [ -n "$only" ]; then
                name_of "$path"
                continue
            fi
            [ -d "$path" ] && continue
            value=$(cat "$path") || {
                rc=1
                continue
            }
            if [ -z "$names" ]; then
                printf '%s\n' "$value"
            else
                case $value in
                *'
'*) printf '%s=\n%s\n' "$(name_of "$path")" "$value" ;;
                *) printf '%s=%s\n' "$(name_of "$path")" "$value" ;;
                esac
            fi
        done
    done
    return $rc
}

set_param() {
    names=1
    while [ "$1" = -n ]; do
        names=
        shift
    done
    rc=0
    while [ $# -gt 0 ]; do
        case $1 in
        *=*) parameter=${1%%=*} value=${1#*=} ;;
        *)
            [ $# -gt 1 ] || fail "set_param: no value for '$1'" 22
            parameter=$1 value=$2
            shift
            ;;
        esac
        shift
        paths=$(find_param "$parameter") || {
            echo "error: set_param: param_path '$parameter': No such file or directory" >&2
            rc=2
            continue
        }
        for path in $paths; do
            if message=$( { printf '%s' "$value" | cat >"$path"; } 2>&1); then
                [ -n "$names" ] && printf '%s=%s\n' "$(name_of "$path")" "$value"
            else
                echo "error: set_param: setting $path=$value: ${message##*: }" >&2
                rc=22
            fi
        done
    done
    return $rc
}

# mark and clear: a file since 2.15.62, an ioctl before (here: the simulator's own command file).
marker() {
    file=$root/sys/kernel/debug/lnet/debug_marker
    if [ -e "$file" ]; then
        printf '%s\0' "$2" >"$file"
    else
        printf '%s' "$1" >"$root/sim/ctl"
    fi
}

debug_daemon() {
    file=$(control daemon_file)
    [ -n "$file" ] || fail "debug_daemon: the Lustre modules are not loaded" 2
    case $1 in
    start)
        [ -n "$2" ] || fail "debug_daemon: start needs a file" 22
        if [ -n "$3" ]; then
            case $3 in
            *[!0-9]* | ??????*) fail "size $3 invalid, must be in the range 10-20480 MB" 1 ;;
            esac
            if [ "$3" -lt 10 ] || [ "$3" -gt 20480 ]; then
                fail "size $3 invalid, must be in the range 10-20480 MB" 1
            fi
            printf 'size=%s' "$3" >"$file" || exit 1
        fi
        case $2 in
        /*) path=$2 ;;
        *) path=$PWD/$2 ;;
        esac
        printf '%s' "$path" >"$file"
        ;;
    stop) printf stop >"$file" ;;
    *) fail "usage: debug_daemon {start file [MB]|stop}" 1 ;;
    esac
}

command=$1
[ $# -gt 0 ] && shift
case $command in
get_param) get_param "$@" ;;
set_param) set_param "$@" ;;
dl | device_list) cat "$root/sys/kernel/debug/lustre/devices" ;;
mark)
    text=${*:-$(date)}
    marker "mark $text" "$text"
    ;;
clear) marker clear clear ;;
debug_daemon) debug_daemon "$@" ;;
dk | debug_kernel)
    [ "$2" = raw ] || fail "dk: the simulated $prog writes raw logs only: dk FILE raw" 22
    printf '%s' "$1" >"$(control dump_kernel)"
    ;;
--version) echo "$prog $(cat "$root/sys/fs/lustre/version")" ;;
*) fail "$prog: unknown command '$command'" 1 ;;
esac
