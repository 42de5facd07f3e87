//go:build !bindings && !childstorm

package main

import "atelier.dev/atelier/cmd/cli"

// start reads the command line and runs its command.
func start(args []string, window func(cli.Launch) int) int { return cli.Main(args, window) }
