//go:build childstorm

package desktop

import (
	"context"

	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/cmd/cli"
)

// start belongs to the build that shows that children cannot keep the window
// blank: it starts 150 sleeping ones while the page loads.
func (p Program) start(args []string) int {
	return cli.Main(args, func(launch cli.Launch) int {
		open := launch.Open
		launch.Open = func(ctx context.Context, desktop cli.Desktop) (cli.Host, error) {
			for range 150 {
				go sandbox.Run(ctx, sandbox.Spec{Argv: []string{"sleep", "6"}})
			}
			return open(ctx, desktop)
		}
		return p.openWindow(launch)
	})
}
