#!/bin/bash
# Makes the disk image that people open: the app, and the Applications folder to drag it into.
#     packaging/macos/dmg.sh dist/Backscroll.app dist/Backscroll-0.1.0-macos-arm64.dmg
set -euo pipefail

app=$1
image=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ditto "$app" "$folder/Backscroll.app"
ln -s /Applications "$folder/Applications"
hdiutil create -volname Backscroll -srcfolder "$folder" -format ULMO -ov "$image"
if [ -n "${BACKSCROLL_SIGN_IDENTITY:-}" ]; then
    codesign --sign "$BACKSCROLL_SIGN_IDENTITY" --timestamp "$image"
fi
