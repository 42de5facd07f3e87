package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	protocol "github.com/mark3labs/mcp-go/mcp"

	"atelier.dev/atelier/agent/internal/stdin"
)

const (
	defaultStart = 10 * time.Second
	mostStart    = 30 * time.Second
	clientName   = "atelier"
)

// conn is one connection to a server, from its handshake to its end.
type conn struct {
	server Server
	cfg    Config
	log    *journal
	life   context.Context // ends with the connection
	end    context.CancelFunc
	client *client.Client
	wire   *wire
	peer   Peer
	lost   chan struct{} // closed when the connection is over
	dirty  chan struct{} // a list changed

	mu    sync.Mutex
	state connState
}

// connState is what changes about a connection.
type connState struct {
	err   error           // why it is over
	calls []*call         // in flight, the newest last
	count int64           // of calls so far
	asks  int             // requests of the server that are being answered
	stale map[string]bool // lists that changed
	first string          // the first words, if they were not a message
	named map[string]bool // tools that were listed
	kept  int             // bytes of their first definitions
	// handler handles the requests of the server.
	handler transport.RequestHandler
}

func startLimit(s Server) time.Duration {
	if s.Limits.Start > 0 {
		return min(s.Limits.Start, mostStart)
	}
	return defaultStart
}

// open connects to a server. The connection lives until close. If it failed, it is
// closed, and says what its program printed. With legacy it does not try the newest
// protocol first, which a few old programs do not survive.
func open(ctx context.Context, s Server, cfg Config, log *journal, legacy bool) (*conn, error) {
	c := &conn{server: s, cfg: cfg, log: log, lost: make(chan struct{}), dirty: make(chan struct{}, 1), wire: &wire{}}
	c.state.stale, c.state.named = map[string]bool{}, map[string]bool{}
	c.life, c.end = context.WithCancel(context.Background())
	err := c.dial(ctx, s.Transport == TransportSSE, legacy)
	if err != nil {
		fault := c.fault(ctx, err)
		if errors.Is(err, transport.ErrLegacySSEServer) && s.Transport == TransportHTTP && c.dial(ctx, true, true) == nil {
			return c, nil // a server of 2024 at the address of a newer kind
		}
		c.mu.Lock()
		first := c.state.first
		c.mu.Unlock()
		if fault.Kind == FaultTimeout && first != "" {
			fault = &Fault{Kind: FaultGarbage, Detail: first, Err: err}
		}
		c.close()
		return c, fault
	}
	return c, nil
}

// dial makes the transport and shakes hands.
func (c *conn) dial(ctx context.Context, sse, legacy bool) error {
	if c.wire.Interface != nil {
		_ = c.wire.Close()
	}
	through, err := c.makeWire(sse)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { c.end() }) // also ends a start that does not look at ctx
	defer stop()
	options := []client.ClientOption{client.WithDiscoverTimeout(startLimit(c.server) / 2)}
	if legacy {
		options = append(options, client.WithProtocolVersion(protocol.LATEST_LEGACY_PROTOCOL_VERSION))
	}
	capabilities := protocol.ClientCapabilities{Roots: &struct {
		ListChanged bool `json:"listChanged,omitempty"`
	}{}}
	options = append(options, client.WithRootsHandler(c))
	if c.cfg.Asker != nil {
		capabilities.Sampling = &protocol.SamplingCapability{}
		capabilities.Elicitation = &protocol.ElicitationCapability{Form: &struct{}{}, URL: &struct{}{}}
		options = append(options, client.WithSamplingHandler(c), client.WithElicitationHandler(c))
	}
	c.client = client.NewClient(through, options...)
	c.client.OnNotification(c.notified)
	if err := c.client.Start(c.life); err != nil {
		return err
	}
	if c.wire.program != nil {
		go c.watch(c.wire.program.ended, c.wire.program.failure) // ends with the link
	}
	request := protocol.InitializeRequest{}
	request.Params.ClientInfo = protocol.Implementation{Name: clientName, Version: c.cfg.Version, Title: "Atelier"}
	request.Params.Capabilities = capabilities
	result, err := c.client.Initialize(ctx, request)
	if err == nil {
		c.peer = greeting(result)
	}
	return err
}

// makeWire makes the transport, and returns what the client gets of it.
func (c *conn) makeWire(sse bool) (transport.Interface, error) {
	c.wire = &wire{onHandler: c.setHandler}
	switch c.server.Transport {
	case TransportStdio:
		if c.cfg.Ready != nil {
			if err := c.cfg.Ready(c.server); err != nil {
				return nil, &Fault{Kind: FaultNotAllowed, Detail: err.Error(), Err: err}
			}
		}
		c.wire.program = newProgram(c.server, c.cfg, c)
		c.wire.Interface = c.wire.program
		return c.wire, nil
	case TransportHTTP, TransportSSE, TransportClaudeAI:
		r, err := newRemote(c.server, c.cfg, c, sse)
		if err != nil {
			return nil, err
		}
		c.wire.Interface, c.wire.http = r, r
		if t, ok := r.HTTPConnection.(*transport.SSE); ok {
			t.SetConnectionLostHandler(func(err error) { c.lose(c.fault(context.Background(), err)) })
		}
		return httpWire{c.wire}, nil
	}
	return nil, &Fault{Kind: FaultConfig, Detail: "unknown transport " + string(c.server.Transport)}
}

func (c *conn) watch(ended <-chan struct{}, why func() error) {
	<-ended
	c.lose(why())
}

// lose ends the connection for the reason that came first.
func (c *conn) lose(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.err == nil {
		c.state.err = err
		close(c.lost)
	}
}

func (c *conn) isLost() bool {
	select {
	case <-c.lost:
		return true
	default:
		return false
	}
}

// close ends the connection and returns when nothing of it is left.
func (c *conn) close() {
	c.lose(&Fault{Kind: FaultClosed})
	if c.wire.Interface != nil {
		_ = c.wire.Close() // before its life ends, so that a program may end by itself
	}
	c.end()
}

// failure names what went wrong with a request, if anything did. If the server has not
// seen it, or takes nothing from us any more, the connection is over.
func (c *conn) failure(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	fault := c.fault(ctx, err)
	unseen := errors.Is(err, errNotSent) || errors.Is(err, stdin.ErrFull) || errors.Is(err, transport.ErrSessionTerminated)
	if unseen || fault.Kind == FaultAuth {
		c.lose(fault)
	}
	if e := exchangeIn(ctx); unseen || e != nil && !e.sent {
		return fmt.Errorf("%w: %w", errNotSent, fault)
	}
	return fault
}

// ping asks the server for a sign of life.
func (c *conn) ping(ctx context.Context) error {
	var err error
	if protocol.IsModernProtocol(c.client.ProtocolVersion()) {
		_, err = c.client.Discover(ctx, protocol.DiscoverRequest{}) // this protocol has no ping
	} else {
		err = c.client.Ping(ctx) //lint:ignore SA1019 older protocols have it
	}
	err = c.failure(ctx, err)
	var fault *Fault
	if errors.As(err, &fault) && fault.Kind == FaultAnswer {
		return nil // it knows no ping, but answered
	}
	return err
}

func greeting(result *protocol.InitializeResult) Peer {
	return Peer{
		Protocol: shorten(result.ProtocolVersion, mostText), Name: shorten(result.ServerInfo.Name, mostText),
		Version: shorten(result.ServerInfo.Version, mostText), Instructions: shorten(result.Instructions, mostDescription),
	}
}

// takeStale returns the lists that changed since the last time.
func (c *conn) takeStale() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	stale := slices.Sorted(maps.Keys(c.state.stale))
	clear(c.state.stale)
	return stale
}

// listen subscribes to changes where the protocol wants that, until stop.
func (c *conn) listen() (stop func()) {
	has := c.client.GetServerCapabilities()
	filter := protocol.SubscriptionFilter{
		ToolsListChanged:     has.Tools != nil && has.Tools.ListChanged,
		PromptsListChanged:   has.Prompts != nil && has.Prompts.ListChanged,
		ResourcesListChanged: has.Resources != nil && has.Resources.ListChanged,
	}
	if !protocol.IsModernProtocol(c.client.ProtocolVersion()) || !filter.ToolsListChanged && !filter.PromptsListChanged && !filter.ResourcesListChanged {
		return func() {}
	}
	ctx, cancel := context.WithCancel(c.life)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for pause := firstDelay; ctx.Err() == nil; pause = min(2*pause, mostRelist) {
			if err := c.client.Listen(ctx, filter); err != nil && ctx.Err() == nil {
				c.log.happened(HappenedStreamEnd, shorten(err.Error(), mostText))
			}
			timer := time.NewTimer(pause)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
			}
		}
	}()
	return func() { cancel(); <-gone }
}
