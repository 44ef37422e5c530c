#!/bin/sh
# A stand-in for bd, which keeps the issues of beads: the commands, flags, JSON and exit codes of bd 1.x as far as ralph
# uses them. An issue is a folder of .beads/db with a file for each field; `calls` has every call. In a linked worktree
# without a database of its own it is that of the main checkout.
set -u
top=.beads
[ -d "$top/db" ] || top=$(dirname "$(git rev-parse --path-format=absolute --git-common-dir)")/.beads
db=$top/db
fail() { echo "Error: $1" >&2; exit 1; }
[ -d "$db" ] || fail "no beads database found"
[ -e "$db/broken" ] && fail "$(cat "$db/broken")"
[ -e "$db/garbage" ] && { cat "$db/garbage"; exit 0; }
printf '%s' "$*" | tr '\n' ' ' >> "$db/calls"; echo >> "$db/calls"
command=$1; shift
[ "$(cat "$db/fails-once" 2>/dev/null)" = "$command" ] && { rm "$db/fails-once"; fail "database is locked"; }
[ "$(cat "$db/fails" 2>/dev/null)" = "$command" ] && fail "database is locked"
[ "$command" = dep ] && { command="dep $1"; shift; }
ids= claim= set= actor=${BEADS_ACTOR:-${BD_ACTOR:-somebody}}
while [ $# -gt 0 ]; do
    case $1 in
        --json|--force|--all) ;;
        --claim) [ -e "$db/old" ] && fail "unknown flag: --claim"; claim=1 ;;
        --actor) actor=$2; shift ;;
        --limit) shift ;;
        --append-notes) [ -e "$db/old" ] && fail "unknown flag: --append-notes"; append=$2; set="$set append"; shift ;;
        --title|--description|--design|--notes|--status|--priority|--assignee|--id|--deps|--reason|--type|--acceptance|--labels|--defer)
            name=${1#--}; value=$2; set="$set $name"; eval "$name=\$value"; shift ;;
        -*) fail "unknown flag: $1" ;;
        *) ids="$ids $1" ;;
    esac
    shift
done
field() { cat "$db/$1/$2" 2>/dev/null; }
store() { printf '%s' "$3" > "$db/$1/$2"; }
escaped() { sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/	/\\t/g' "$1" | awk 'NR > 1 { printf "\\n" } { printf "%s", $0 }'; }
json() {
    printf '{"id":"%s"' "$1"
    for name in title description design acceptance_criteria notes status issue_type assignee close_reason defer_until; do
        [ -s "$db/$1/$name" ] && printf ',"%s":"%s"' "$name" "$(escaped "$db/$1/$name")"
    done
    printf ',"priority":%s,"created_at":"2026-01-07T19:30:00Z"' "$(field "$1" priority)"
    [ -s "$db/$1/deps" ] && awk -v id="$1" 'BEGIN { printf ",\"dependencies\":[" }
        { printf "%s{\"issue_id\":\"%s\",\"depends_on_id\":\"%s\",\"type\":\"%s\"}", (NR > 1 ? "," : ""), id, $1, $2 }
        END { printf "]" }' "$db/$1/deps"
    printf ',"dependency_count":0,"dependent_count":0}'
}
array() {
    comma=
    printf '['
    for one in "$@"; do printf '%s' "$comma"; json "$one"; comma=,; done
    echo ']'
}
blockers() { [ -e "$db/$1/deps" ] && while read -r on kind; do
    [ "$kind" = blocks ] && [ "$(field "$on" status)" != closed ] && echo "$on"; done < "$db/$1/deps"; }
ready() {
    for one in $(cat "$db/order"); do
        [ "$(field "$one" status)" = open ] && [ -z "$(blockers "$one")$(field "$one" defer_until)" ] && echo "$(field "$one" priority) $one"
    done | sort -s -n -k1,1 | cut -d' ' -f2
}
was=
noted() { # id, status before
    [ "$2" = "$(field "$1" status)" ] || echo "{\"kind\":\"field_change\",\"issue_id\":\"$1\",\"actor\":\"$actor\",\"extra\":{\"field\":\"status\",\"old_value\":\"$2\",\"new_value\":\"$(field "$1" status)\"}}"
}
changed() {
    [ ! -d "$db/$1" ] || noted "$1" "$was" >> "$top/interactions.jsonl"
    for one in $(cat "$db/order"); do json "$one"; echo; done > "$top/issues.jsonl"
    echo "{\"kind\":\"$command\",\"issue_id\":\"$1\",\"actor\":\"$actor\"}" >> "$top/interactions.jsonl"
    [ ! -x "$top/hooks/on_$command" ] || "$top/hooks/on_$command" "$1" > /dev/null 2>&1 < /dev/null
}
for id in $ids; do
    [ "$command" = create ] || [ -d "$db/$id" ] || fail "resolving issue: no issue found matching \"$id\""
done
set -- $ids
[ $# -eq 0 ] || was=$(field "$1" status)
case $command in
    list) array $(cat "$db/order") ;;
    ready) array $(ready) ;;
    show) array "$@" ;;
    create)
        case " $set " in *" id "*) new=$id ;; *) new=bd-$(($(wc -l < "$db/order") + 1)) ;; esac
        [ -d "$db/$new" ] && fail "issue $new already exists"
        mkdir "$db/$new"; echo "$new" >> "$db/order"
        store "$new" title "${title:-$*}"; store "$new" status open; store "$new" issue_type "${type:-task}"
        store "$new" priority "${priority:-2}"; store "$new" description "${description:-}"
        store "$new" acceptance_criteria "${acceptance:-}"; store "$new" design "${design:-}"; store "$new" notes "${notes:-}"
        for on in $(echo "${deps:-}" | tr , ' '); do echo "$on blocks" >> "$db/$new/deps"; done
        changed "$new"; json "$new"; echo ;;
    update)
        if [ -n "$claim" ]; then
            holder=$(field "$1" assignee)
            [ -n "$holder" ] && [ "$holder" != "$actor" ] && fail "issue not claimable: already claimed by $holder"
            [ "$(field "$1" status)" = closed ] && fail "issue not claimable: status closed"
            store "$1" assignee "$actor"; store "$1" status in_progress
        fi
        for name in $set; do
            case $name in
                append) store "$1" notes "$(field "$1" notes; echo; printf '%s' "$append")" ;;
                acceptance) store "$1" acceptance_criteria "$acceptance" ;;
                defer) store "$1" defer_until "$defer" ;;
                type) store "$1" issue_type "$type" ;;
                *) eval "store \"\$1\" $name \"\$$name\"" ;;
            esac
        done
        changed "$1"; array "$1" ;;
    close)
        [ -n "$(blockers "$1")" ] && fail "cannot close $1: blocked by open issues"
        store "$1" status closed; store "$1" close_reason "${reason:-Closed}"; changed "$1"; array "$1" ;;
    reopen) store "$1" status open; store "$1" close_reason ""; changed "$1"; array "$1" ;;
    "dep add") echo "$2 blocks" >> "$db/$1/deps"; changed "$1" ;;
    "dep remove") grep -v "^$2 " "$db/$1/deps" > "$db/$1/deps.new"; mv "$db/$1/deps.new" "$db/$1/deps"; changed "$1" ;;
    delete) rm -r "$db/$1"; grep -vx "$1" "$db/order" > "$db/order.new"; mv "$db/order.new" "$db/order"; changed "$1" ;;
    *) fail "unknown command \"$command\" for \"bd\"" ;;
esac
