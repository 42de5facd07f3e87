//go:build !launcher || !(amd64 || arm64)

package sandbox

// launcherBinary is empty in a build without the launcher.
var launcherBinary []byte
