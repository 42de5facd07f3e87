// Atelier is a desktop workbench for coding agents. This program is the command
// line of package cli plus the window of package desktop.
package main

import (
	_ "embed"
	"os"

	"atelier.dev/atelier/desktop"
)

//go:embed build/appicon.png
var icon []byte

func main() {
	os.Exit(desktop.Program{Icon: icon, Bind: func(w *desktop.Window) any { return &App{w} }}.Main(os.Args[1:]))
}
