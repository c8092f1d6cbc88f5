#!/bin/bash
# Signs Backscroll.app, inside out: libraries, then programs, then the app itself.
#     packaging/macos/sign.sh dist/Backscroll.app
# Ad hoc, unless BACKSCROLL_SIGN_IDENTITY names a "Developer ID Application: ..." of the keychain. With
# BACKSCROLL_NOTARY_PROFILE, made once by `xcrun notarytool store-credentials`, it is sent to Apple as well.
set -euo pipefail

app=$1
identity=${BACKSCROLL_SIGN_IDENTITY:--}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
options=(--force --sign "$identity")
if [ "$identity" != - ]; then
    options+=(--timestamp --options runtime)  # both are asked for by Apple, and neither works ad hoc
fi

find "$app/Contents" -type f \( -name '*.dylib' -o -name '*.so' \) -print0 | xargs -0 -n 50 codesign "${options[@]}"
for program in "$app"/Contents/MacOS/*; do
    codesign "${options[@]}" --entitlements "$here/entitlements.plist" "$program"
done
codesign "${options[@]}" --entitlements "$here/entitlements.plist" "$app"
codesign --verify --deep --strict --verbose=2 "$app"

if [ "$identity" != - ] && [ -n "${BACKSCROLL_NOTARY_PROFILE:-}" ]; then
    archive=$(mktemp -d)/Backscroll.zip
    ditto -c -k --keepParent "$app" "$archive"
    xcrun notarytool submit "$archive" --keychain-profile "$BACKSCROLL_NOTARY_PROFILE" --wait
    xcrun stapler staple "$app"
    rm -r "$(dirname "$archive")"
fi
