//go:build bindings

package desktop

import "atelier.dev/atelier/cmd/cli"

// start is what the wails command runs to list the bound methods, without lock,
// store and command line.
func (p Program) start([]string) int { return p.show(newWindow(cli.Launch{})) }
