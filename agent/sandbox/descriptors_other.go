//go:build !linux

package sandbox

// closeDescriptorsOnExec is needed only for WebKitGTK.
func closeDescriptorsOnExec() {}
