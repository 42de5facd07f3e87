//go:build !bindings && !childstorm

package desktop

import "atelier.dev/atelier/cmd/cli"

// start reads the command line and runs its command.
func (p Program) start(args []string) int { return cli.Main(args, p.openWindow) }
