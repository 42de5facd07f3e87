// Package llmtest plays a model from a script: in memory for tests of the
// loop, or as a real HTTP server on loopback that speaks the providers' wire
// formats for tests of everything else.
//
//	model := llmtest.Script(
//		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Read", map[string]any{"file_path": "go.mod"})}},
//		llmtest.Round{Text: "It is a Go module."},
//	)
//
//	server := llmtest.Serve(t, llmtest.Round{Text: "hello"})
//	adapter := openai.New(openai.Config{BaseURL: server.URL})
package llmtest
