// The command bare shows a window with one line of text: what every window of Wails
// takes. scripts/bench-page compares the memory of Atelier's window with it.
package main

import (
	"fmt"
	"os"
	"testing/fstest"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
)

const page = "<!doctype html><title>Bare</title><p>One line of text</p>"

func main() {
	err := wails.Run(&options.App{
		Title:       "Bare",
		Width:       1280,
		Height:      800,
		AssetServer: &assetserver.Options{Assets: fstest.MapFS{"index.html": {Data: []byte(page)}}},
		Linux:       &linux.Options{WebviewGpuPolicy: linux.WebviewGpuPolicyNever},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "the window cannot be opened:", err)
		os.Exit(1)
	}
}
