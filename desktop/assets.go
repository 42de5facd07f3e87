package desktop

import (
	"atelier.dev/atelier/backend/serve"
	"atelier.dev/atelier/frontend"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
)

// assets serves the built front end to the window. Its policy is essential
// here, because any other page in the window could call the bound method.
func assets() *assetserver.Options {
	return &assetserver.Options{Assets: frontend.Assets(), Middleware: serve.Harden}
}
