package wire

import (
	"testing"
	"time"

	"atelier.dev/atelier/agent/llm"
)

// LLM-35: a server that people run themselves loads a model and reads a long
// prompt in silence; it is given time for that, others are not. What the user
// chose counts everywhere.
func TestPatience(t *testing.T) {
	t.Parallel()
	const near = 30 * time.Minute
	for _, tt := range []struct {
		base     string
		local    bool
		idle     time.Duration
		request  llm.Request
		want     time.Duration
		wantPing time.Duration
	}{
		{base: "https://api.example.com/v1", want: 2 * time.Minute, wantPing: 10 * time.Minute},
		{base: "https://api.example.com/v1", request: llm.Request{Effort: llm.EffortLow}, want: 2 * time.Minute, wantPing: 10 * time.Minute},
		{base: "https://api.example.com/v1", request: llm.Request{Effort: llm.EffortHigh}, want: 5 * time.Minute, wantPing: 10 * time.Minute},
		{base: "http://localhost:11434/v1", want: near, wantPing: near},
		{base: "http://127.0.0.1:8080", want: near, wantPing: near},
		{base: "http://[::1]:1234/v1", want: near, wantPing: near},
		{base: "http://box.localhost/v1", want: near, wantPing: near},
		{base: "http://192.168.1.5:11434/v1", want: near, wantPing: near},
		{base: "http://host.docker.internal:11434/v1", want: near, wantPing: near},
		{base: "http://gpu.example.com:11434/v1", local: true, want: near, wantPing: near},
		{base: "http://localhost.example.com/v1", want: 2 * time.Minute, wantPing: 10 * time.Minute},
		{base: "http://localhost/v1", idle: time.Second, want: time.Second, wantPing: 10 * time.Minute},
		{base: "http://localhost/v1", idle: time.Second, request: patient(time.Hour), want: time.Hour, wantPing: time.Hour},
		{base: "https://api.example.com/v1", request: patient(10 * time.Minute), want: 10 * time.Minute, wantPing: 10 * time.Minute},
	} {
		e := NewEndpoint(Config{Provider: "p", Local: tt.local, AdapterConfig: llm.AdapterConfig{BaseURL: tt.base, IdleTimeout: tt.idle}})
		call, _, err := e.Begin(t.Context(), tt.request)
		if err != nil {
			t.Fatal(err)
		}
		if call.idle != tt.want || call.patience() != tt.wantPing {
			t.Errorf("%s: %v and %v, want %v and %v", tt.base, call.idle, call.patience(), tt.want, tt.wantPing)
		}
		call.End()
	}
}

func patient(d time.Duration) llm.Request { return llm.Request{Options: llm.Options{Patience: d}} }
