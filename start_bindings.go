//go:build bindings

package main

import "atelier.dev/atelier/cmd/cli"

// start is what the wails command runs to list the bound methods, without lock,
// store and command line.
func start([]string, func(cli.Launch) int) int { return show(newApp(cli.Launch{})) }
