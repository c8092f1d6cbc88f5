#!/bin/sh
# Installs, updates and removes Backscroll for the person who runs it; root is not needed.
#     ./install.sh                 install this version, or update to it
#     ./install.sh --autostart     the same, and start it at login
#     ./install.sh --remove        take everything out but your data
#
# Each version has a folder of its own below ~/.local/lib/backscroll, and the link `current` leads to this one. What is
# registered with Claude Code, the menu entry and the commands go through that link, so an update changes none of them.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
data=${XDG_DATA_HOME:-$HOME/.local/share}
config=${XDG_CONFIG_HOME:-$HOME/.config}
root=$HOME/.local/lib/backscroll
bin=$HOME/.local/bin
entry=$data/applications/backscroll.desktop
icon=$data/icons/hicolor/scalable/apps/backscroll.svg
login=$config/autostart/backscroll.desktop

running() {  # whether a program of this folder runs
    for link in /proc/[0-9]*/exe; do
        case $(readlink "$link" 2>/dev/null || true) in "$1"/*) return 0 ;; esac
    done
    return 1
}

end_app() {  # the engine of the version before, and its tray icon; sessions of Claude Code keep their shim
    for link in /proc/[0-9]*/exe; do
        case $(readlink "$link" 2>/dev/null || true) in
            "$root"/*/backscroll|"$root"/*/Backscroll)
                process=${link#/proc/}
                kill "${process%/exe}" 2>/dev/null || true ;;
        esac
    done
}

write_entry() {  # a desktop entry, with what it starts; a path may hold what the Exec key treats specially
    quoted=$(printf '%s' "$root/current/Backscroll" | sed 's/[\\"`$]/\\\\&/g; s/%/%%/g')
    mkdir -p "$(dirname "$1")"
    while IFS= read -r line; do
        [ "$line" = Exec=@EXEC@ ] && line="Exec=\"$quoted\"$2"
        printf '%s\n' "$line"
    done < "$here/backscroll.desktop" > "$1"
}

case ${1:-} in
    --remove)
        [ -x "$root/current/backscroll" ] && "$root/current/backscroll" connect --remove
        end_app
        rm -f "$bin/backscroll" "$bin/backscroll-mcp" "$entry" "$icon" "$login"
        rm -rf "$root"
        echo "Backscroll is gone. Your index and settings stay in $data/backscroll and $config/backscroll."
        exit ;;
    ''|--autostart) ;;
    *)
        echo "usage: $0 [--autostart | --remove]" >&2
        exit 2 ;;
esac

version=$(cat "$here/VERSION")
mkdir -p "$root" "$bin" "$(dirname "$icon")"
if [ "$here" != "$root/$version" ]; then
    rm -rf "$root/.new"
    cp -R "$here" "$root/.new"  # first beside it: an interrupted copy is never taken for a version
    end_app
    rm -rf "${root:?}/$version"
    mv "$root/.new" "$root/$version"
fi
ln -sfn "$version" "$root/.current"
mv -T "$root/.current" "$root/current"  # in one step: no moment without a version
for other in "$root"/*; do
    name=${other##*/}
    if [ "$name" != current ] && [ "$name" != "$version" ] && ! running "$other"; then
        rm -rf "$other"
    fi
done
for program in backscroll backscroll-mcp; do
    ln -sf "$root/current/$program" "$bin/$program"
done
cp "$here/_internal/assets/icons/app.svg" "$icon"
write_entry "$entry" ""
if [ "${1:-}" = --autostart ]; then
    write_entry "$login" " run --background"
fi
echo "Backscroll $version is installed. Start it from the menu, or with: $bin/backscroll"
case :$PATH: in *:"$bin":*) ;; *) echo "$bin is not on your PATH: log in again, or use the full path." ;; esac
