//go:build !linux

package sandbox

// closeDescriptorsOnExec is needed where the window is WebKitGTK only.
func closeDescriptorsOnExec() {}
