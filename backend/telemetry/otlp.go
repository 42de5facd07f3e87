package telemetry

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/trace"
	"atelier.dev/atelier/internal/outbound"
)

// EnableVariable switches the export on; the other variables are those of OpenTelemetry.
const EnableVariable = "ATELIER_ENABLE_TELEMETRY"

// The limits of the export. A collector that does not answer costs spans, never time.
const (
	maxWaiting   = 2000 // spans that wait; more are dropped
	maxBatch     = 200
	maxFolded    = 200 // sessions that are folded at once
	batchTime    = 2 * time.Second
	sendPatience = 5 * time.Second
)

// Exporter sends spans to a collector, by OTLP over HTTP with JSON. Their names are those of the
// conventions for generative AI. They have no content: no prompt, no answer, no argument, no
// output, no path. It is safe for concurrent use; nil exports nothing.
type Exporter struct {
	url, service, version string
	header                http.Header
	client                *http.Client

	waiting chan span
	dropped atomic.Int64
	end     context.CancelFunc
	done    chan struct{}

	mu     sync.Mutex // guards what follows
	folded map[string]*folding
}

// folding folds the events of one session.
type folding struct {
	trace.Builder
	nonce [8]byte
}

// span is a span as it is sent.
type span struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	Parent     string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes"`
	Status     *status     `json:"status,omitempty"`
}

type status struct {
	Code int `json:"code"`
}

type attribute struct {
	Key   string         `json:"key"`
	Value map[string]any `json:"value"`
}

// NewExporter returns an exporter for the collector that the environment names; nil if there is
// none, or the user did not switch the export on.
func NewExporter(getenv func(string) string, version string) *Exporter {
	url := getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if base := getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); url == "" && base != "" {
		url = strings.TrimRight(base, "/") + "/v1/traces"
	}
	if getenv(EnableVariable) != "1" || url == "" || strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return nil
	}
	header := http.Header{}
	for pair := range strings.SplitSeq(cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS"), getenv("OTEL_EXPORTER_OTLP_HEADERS")), ",") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	ctx, end := context.WithCancel(context.Background())
	e := &Exporter{
		url: url, service: cmp.Or(getenv("OTEL_SERVICE_NAME"), "atelier"), version: version, header: header,
		client: &http.Client{Transport: outbound.Through(outbound.Trace, http.DefaultTransport), Timeout: sendPatience, CheckRedirect: stay}, waiting: make(chan span, maxWaiting), end: end, done: make(chan struct{}), folded: map[string]*folding{},
	}
	go e.run(ctx)
	return e
}

// stay follows no redirect: the headers may hold a key of the collector's.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Observe folds an event. It never waits.
func (e *Exporter) Observe(ev agent.Event) {
	if e == nil || !ev.Durable() || ev.Session == "" {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.folded[ev.Session]
	if f == nil {
		if len(e.folded) >= maxFolded {
			clear(e.folded)
		}
		f = &folding{}
		_, _ = rand.Read(f.nonce[:]) // never fails
		f.Done = func(s trace.TimeSpan) { e.put(f.span(ev.Session, s)) }
		e.folded[ev.Session] = f
	}
	f.Add(ev)
}

func (e *Exporter) put(s span) {
	select {
	case e.waiting <- s:
	default:
		e.dropped.Add(1)
	}
}

// id returns an id of n bytes for a span, which no other process gives.
func (f *folding) id(n int, what string, id int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%x %s %d", f.nonce, what, id))
	return hex.EncodeToString(sum[:n])
}

// span returns a span with the names of the conventions.
func (f *folding) span(session string, s trace.TimeSpan) span {
	out := span{
		TraceID: f.id(16, "trace", f.Turn()), SpanID: f.id(8, "span", s.ID), Kind: 1,
		Start: strconv.FormatInt(s.Start*1e6, 10), End: strconv.FormatInt(s.End*1e6, 10),
	}
	if s.Parent != 0 {
		out.Parent = f.id(8, "span", s.Parent)
	}
	text := func(key, value string) {
		out.Attributes = append(out.Attributes, attribute{key, map[string]any{"stringValue": value}})
	}
	number := func(key string, n int64) {
		out.Attributes = append(out.Attributes, attribute{key, map[string]any{"intValue": strconv.FormatInt(n, 10)}})
	}
	text("gen_ai.conversation.id", session)
	switch s.Kind {
	case trace.KindTurn:
		out.Name = "invoke_agent Atelier"
		text("gen_ai.operation.name", "invoke_agent")
		text("gen_ai.agent.name", "Atelier")
	case trace.KindRequest:
		out.Name, out.Kind = "chat "+s.Name, 3
		text("gen_ai.operation.name", "chat")
		text("gen_ai.provider.name", cmp.Or(providerNames[s.Provider], s.Provider))
		text("gen_ai.request.model", s.Name)
		if u := s.Usage; u != nil && u.Known {
			number("gen_ai.usage.input_tokens", u.Context())
			number("gen_ai.usage.output_tokens", u.Output)
			number("gen_ai.usage.cache_read.input_tokens", u.CacheRead)
			number("gen_ai.usage.cache_creation.input_tokens", u.CacheWrite)
		}
	case trace.KindTool, trace.KindServer:
		out.Name = "execute_tool " + s.Name
		text("gen_ai.operation.name", "execute_tool")
		text("gen_ai.tool.name", s.Name)
		text("gen_ai.tool.call.id", s.CallID)
	case trace.KindWait:
		out.Name = "tool.blocked_on_user"
		text("gen_ai.tool.name", s.Name)
	default: // a hook's name can be its command line
		out.Name = string(s.Kind)
	}
	if s.Failed {
		out.Status = &status{Code: 2}
		text("error.type", "failed")
	}
	return out
}

// providerNames are the names of the conventions where ours differ.
var providerNames = map[string]string{
	"gemini": "gcp.gemini", "azure": "azure.ai.openai", "mistral": "mistral_ai", "moonshot": "moonshot_ai", "xai": "x_ai",
}

// run sends batches until ctx ends, and then what waits, once.
func (e *Exporter) run(ctx context.Context) {
	defer close(e.done)
	tick := time.NewTicker(batchTime)
	defer tick.Stop()
	var batch []span
	send := func(ctx context.Context) {
		if len(batch) > 0 {
			e.send(ctx, batch)
			batch = nil
		}
	}
	for {
		select {
		case s := <-e.waiting:
			if batch = append(batch, s); len(batch) >= maxBatch {
				send(ctx)
			}
		case <-tick.C:
			send(ctx)
		case <-ctx.Done():
			for len(e.waiting) > 0 && len(batch) < maxWaiting {
				batch = append(batch, <-e.waiting)
			}
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closePatience)
			defer cancel()
			send(last)
			return
		}
	}
}

// closePatience limits how long the end of the program waits for a collector.
const closePatience = time.Second

// send sends a batch. What cannot be sent is dropped, and counted in the log.
func (e *Exporter) send(ctx context.Context, batch []span) {
	resource := []attribute{{"service.name", map[string]any{"stringValue": e.service}}, {"service.version", map[string]any{"stringValue": e.version}}}
	body, err := json.Marshal(map[string]any{"resourceSpans": []any{map[string]any{
		"resource":   map[string]any{"attributes": resource},
		"scopeSpans": []any{map[string]any{"scope": map[string]any{"name": "atelier", "version": e.version}, "spans": batch}},
	}}})
	if err == nil {
		err = e.post(ctx, body)
	}
	if err != nil {
		e.dropped.Add(int64(len(batch)))
		slog.Info("could not send spans to the collector", "dropped", e.dropped.Load())
	}
}

func (e *Exporter) post(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = e.header.Clone()
	req.Header.Set("Content-Type", "application/json")
	resp, err := e.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<16)) // so that the connection is used again
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("the collector answered %d", resp.StatusCode)
	}
	return nil
}

// Close sends what waits, and ends.
func (e *Exporter) Close() {
	if e != nil {
		e.end()
		<-e.done
	}
}
