package main

import (
	"net/http"

	"atelier.dev/atelier/frontend"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
)

// contentPolicy lets the page load its own files and nothing else: no inline
// script, no frame, no network. Every frame could call the bound method.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
	"font-src 'self'; connect-src 'self'; frame-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'"

// assets serves the built front end to the window.
func assets() *assetserver.Options {
	return &assetserver.Options{Assets: frontend.Assets(), Middleware: withPolicy}
}

func withPolicy(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", contentPolicy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	})
}
