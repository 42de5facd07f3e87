// Package telemetry says what took the time of a session: to the page, as a fold of its log
// (COM-91), and to a collector of OpenTelemetry that the user has configured.
package telemetry

import (
	"context"

	"atelier.dev/atelier/agent/trace"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/place"
)

// maxEvents limits the part of a log that is folded for the page.
const maxEvents = 2000

// Config is what [Telemetry] needs.
type Config struct {
	Project *place.Project
	Store   backend.Store
	Getenv  func(string) string
	Version string
}

// Telemetry has the traces of a project's sessions. It is safe for concurrent use.
type Telemetry struct {
	*Exporter // nil if no collector is configured
	cfg       Config
}

// New returns the telemetry. Close sends what waits.
func New(cfg Config) *Telemetry { return &Telemetry{NewExporter(cfg.Getenv, cfg.Version), cfg} }

// Register registers the methods of the page.
func (t *Telemetry) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "conversation.trace", t.trace)
}

func (t *Telemetry) trace(ctx context.Context, in place.SessionRef) (TraceReply, error) {
	if _, err := t.cfg.Project.Session(ctx, in.Session); err != nil {
		return TraceReply{}, err
	}
	events, err := t.cfg.Store.Events(ctx, backend.EventRange{Session: in.Session, Limit: maxEvents, Newest: true})
	if err != nil {
		return TraceReply{}, err
	}
	return TraceReply{Spans: trace.Of(events), More: len(events) == maxEvents}, nil
}

// TraceReply answers conversation.trace. More says that the log has earlier events.
type TraceReply struct {
	Spans []trace.TimeSpan `json:"spans,omitempty"`
	More  bool             `json:"more,omitempty"`
}
