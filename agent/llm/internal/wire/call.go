package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"atelier.dev/atelier/agent/llm"
)

// Call is one running request. It belongs to the goroutine that began it, which
// must call End.
type Call struct {
	ep     *Endpoint
	ctx    context.Context
	cancel context.CancelCauseFunc
	// timer runs only while a byte is awaited, so that a slow reader of the
	// events is not mistaken for a silent server.
	timer     *time.Timer
	idle      time.Duration
	waited    time.Duration // wait for bytes since the answer last grew
	size      int           // of the response so far, in bytes
	header    http.Header   // of the request's own
	requestID string
	limits    *llm.RateLimit
}

var errIdle = errors.New("the server went silent")

// Begin starts the call for req. The returned context is the one for the
// request. An error says why no call is possible.
func (e *Endpoint) Begin(ctx context.Context, req llm.Request) (*Call, context.Context, *llm.Error) {
	if e.invalid != nil {
		invalid := *e.invalid
		return nil, nil, &invalid
	}
	c := &Call{ep: e, idle: cmp.Or(req.Patience, e.idle, e.silence(req.Effort)), header: req.Header}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	c.timer = time.AfterFunc(c.idle, func() { c.cancel(errIdle) })
	return c, c.ctx, nil
}

// silence is how long a model may think without a sign of life. A server on
// this machine loads the model first and then reads a long prompt, perhaps
// without a graphics card; whoever cuts it off loses all of that.
func (e *Endpoint) silence(effort llm.Effort) time.Duration {
	if e.nearby {
		return 30 * time.Minute
	}
	switch effort {
	case llm.EffortHigh, llm.EffortXHigh, llm.EffortMax:
		return 300 * time.Second
	default:
		return 120 * time.Second
	}
}

// End releases the connection.
func (c *Call) End() {
	c.timer.Stop()
	c.cancel(nil)
}

// Post sends a body, encoded by [Encode], without an SDK. A response that is not a
// stream becomes an [*llm.Error]. An empty header is not sent.
func (c *Call) Post(ctx context.Context, path string, header http.Header, body any) (*http.Response, error) {
	encoded, err := Encode(body)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.ep.base+path, bytes.NewReader(encoded))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	setHeader(req, header)
	req.Header.Set("Content-Type", "application/json")
	return c.open(req, c.ep.client.Do)
}

// setHeader adds to a request what is not empty.
func setHeader(req *http.Request, header http.Header) {
	for name := range header {
		if v := header.Get(name); v != "" {
			req.Header.Set(name, v)
		}
	}
}

// Intercept is middleware of the vendors' SDKs. They read fewer forms of streams
// and of errors than servers send: a failure becomes an [*llm.Error], and a stream
// is brought into the form that they read.
func (c *Call) Intercept(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	resp, err := c.open(req, next)
	if err != nil {
		return nil, err
	}
	resp.Body = &plainStream{Closer: resp.Body, call: c, events: NewEvents(resp.Body)}
	return resp, nil
}

// open sends the request of a streamed call and returns its stream.
func (c *Call) open(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	resp, err := c.send(req, next)
	if err != nil {
		return nil, err
	}
	body := bufio.NewReader(resp.Body)
	if first, _ := body.Peek(1); len(first) == 1 && (first[0] == '{' || first[0] == '[' || first[0] == '<') {
		defer resp.Body.Close()
		return nil, c.ep.notAStream(c.read(body))
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{body, resp.Body}
	return resp, nil
}

// send makes the request and turns every status but a success into an error.
func (c *Call) send(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	maps.Copy(req.Header, c.ep.header)
	for name, values := range c.header {
		req.Header.Set(name, strings.Join(values, ","))
	}
	resp, err := next(req)
	c.timer.Stop()
	if err != nil {
		return nil, err
	}
	c.limits = rateLimit(resp.Header, time.Now())
	c.requestID = brief(c.ep.Redact(cmp.Or(resp.Header.Get("X-Request-Id"), resp.Header.Get("Request-Id"))))
	resp.Body = &watchedBody{resp.Body, c}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		defer resp.Body.Close()
		return nil, c.ep.refusal(resp.StatusCode, resp.Header, c.read(resp.Body))
	}
	return resp, nil
}

// read returns the start of a body that explains a failure.
func (c *Call) read(r io.Reader) []byte {
	b, _ := io.ReadAll(io.LimitReader(r, maxExplanation)) // anything that arrived helps to explain it
	return bytes.TrimSpace(b)
}

// Error turns the end of a stream into an [*llm.Error]. A nil err means that
// the stream ended normally but without its terminal event.
func (c *Call) Error(err error) *llm.Error {
	e := c.classify(err)
	if e.RequestID == "" {
		e.RequestID = c.requestID
	}
	return e
}

// Reported returns the error that the provider reported inside the stream.
func (c *Call) Reported(code, text string) *llm.Error {
	return c.Error(c.ep.Reported(0, code, text))
}

// ReportedBody is Reported for an error object of any form.
func (c *Call) ReportedBody(body []byte) *llm.Error { return c.Error(c.ep.reportedBody(0, body)) }

func (c *Call) classify(err error) *llm.Error {
	var known *llm.Error
	var size *sizeError
	switch cause := context.Cause(c.ctx); {
	case errors.Is(cause, errIdle) && c.waited >= c.patience():
		e := c.ep.failure(llm.ClassTimeout, c.ep.Shown()+" said only that it is still there, and nothing else, for "+c.patience().String())
		e.Retryable = false // it would be another ten minutes
		return e
	case errors.Is(cause, errIdle):
		return c.ep.failure(llm.ClassTimeout, "no sign of life from "+c.ep.Shown()+" for "+c.idle.String())
	case errors.Is(cause, context.DeadlineExceeded):
		e := c.ep.failure(llm.ClassTimeout, "the time allowed for this request ran out")
		e.Retryable, e.Cause = false, cause
		return e
	case cause != nil:
		e := c.ep.failure(llm.ClassAbort, "the request was stopped")
		e.Cause = context.Cause(c.ctx)
		return e
	case errors.As(err, &known):
		copied := *known
		return &copied
	case errors.As(err, &size):
		return c.ep.failure(llm.ClassTooLarge, size.what)
	case err == nil:
		return c.ep.failure(llm.ClassTruncated, "the answer broke off before it was complete")
	default:
		return c.ep.transport(err)
	}
}

// watchedBody measures silence only while someone waits for a byte, and stops
// at the largest allowed response.
type watchedBody struct {
	io.ReadCloser
	call *Call
}

// Read implements [io.Reader].
func (b *watchedBody) Read(p []byte) (int, error) {
	defer b.call.wait()()
	n, err := b.ReadCloser.Read(p)
	if b.call.size += n; b.call.size > maxStream {
		return n, tooLarge("the answer", maxStream)
	}
	return n, err
}
