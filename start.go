//go:build !bindings && !childstorm

package main

import "atelier.dev/atelier/cmd/cli"

// start reads the command line and runs what it asks for.
func start(args []string, window func(cli.Launch) int) int { return cli.Main(args, window) }
