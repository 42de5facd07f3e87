// Command atelier-headless is Atelier without a window: the browser mode and
// the command line, in a binary without graphical libraries.
package main

import (
	"os"

	"atelier.dev/atelier/cmd/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], nil)) }
