; The installer of Windows, made by Inno Setup 6 from the folder that `python dev.py bundle` built:
;     iscc /DVersion=0.1.0 packaging\windows\backscroll.iss
; For one person, without administrator rights. The folder does not change between versions, so that Claude Code's entry
; and the one that starts the app at login stay right.

#ifndef Version
  #error Say which version: iscc /DVersion=0.1.0
#endif

[Setup]
AppId={{6F0C9F0B-7A36-4C0E-9E4B-0C6B1D0B5A11}
AppName=Backscroll
AppVersion={#Version}
AppPublisher=Backscroll
DefaultDirName={localappdata}\Programs\Backscroll
DisableDirPage=yes
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0
OutputDir=..\..\dist
OutputBaseFilename=Backscroll-{#Version}-windows-x86_64
SetupIconFile=..\..\build\backscroll\backscroll.ico
UninstallDisplayIcon={app}\BackscrollTray.exe
LicenseFile=..\..\LICENSE
Compression=lzma2/max
SolidCompression=yes
WizardStyle=modern
; The tray app, and the shims of open Claude Code sessions, hold the files: they are asked to end, and then ended.
CloseApplications=force
RestartApplications=no

[Tasks]
Name: autostart; Description: "Start Backscroll when I log in"; Flags: unchecked

[InstallDelete]
; A library that a new version no longer has must not be found by it.
Type: filesandordirs; Name: "{app}\_internal"

[Files]
Source: "..\..\dist\Backscroll\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{autoprograms}\Backscroll"; Filename: "{app}\BackscrollTray.exe"

[Registry]
; The same value as the app's own setting writes (desktop/autostart/registry.py).
Root: HKCU; Subkey: "Software\Microsoft\Windows\CurrentVersion\Run"; ValueType: string; ValueName: "Backscroll"; ValueData: """{app}\BackscrollTray.exe"" run --background"; Tasks: autostart
Root: HKCU; Subkey: "Software\Microsoft\Windows\CurrentVersion\Run"; ValueName: "Backscroll"; Flags: uninsdeletevalue dontcreatekey

[Run]
Filename: "{app}\BackscrollTray.exe"; Description: "Start Backscroll"; Flags: postinstall nowait skipifsilent

[UninstallRun]
; Takes out exactly what `connect` added to Claude Code's configuration.
Filename: "{app}\backscroll.exe"; Parameters: "connect --remove"; Flags: runhidden; RunOnceId: "disconnect"
