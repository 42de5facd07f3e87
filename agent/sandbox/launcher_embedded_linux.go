//go:build launcher && (amd64 || arm64)

package sandbox

import _ "embed"

// launcherBinary is the program of launcher.c, which the scripts compile.
//
//go:embed launcher/launcher
var launcherBinary []byte
