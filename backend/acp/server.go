package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// Host is the application on one folder.
type Host interface {
	// Call runs a method by name, with JSON.
	Call(ctx context.Context, method, args string) string
	// IncludeServers adds the MCP servers of a file, which is trusted.
	IncludeServers(files ...string) error
	Close(ctx context.Context) error
}

// Config is what a server needs.
type Config struct {
	Version string
	// Open opens the application on a folder. observe is called with every event, and returns
	// at once.
	Open func(ctx context.Context, folder string, observe func(agent.Event)) (Host, error)
	// Dir is a folder of this process alone, for the servers that clients bring along.
	Dir string
}

// The limits of a client.
const (
	maxHosts    = 8
	maxSessions = 64
	maxServers  = 32
	listPage    = 50
	historyPage = 200
)

// Server serves one client. It is safe for concurrent use.
type Server struct {
	cfg  Config
	conn *acp.AgentSideConnection

	ctx  context.Context // ends with the client
	end  context.CancelFunc
	jobs sync.WaitGroup
	open sync.Mutex // held while a host opens

	mu       sync.Mutex // guards what follows
	client   acp.ClientCapabilities
	hosts    map[string]Host
	sessions map[string]*session
	// latest are settings that clients chose, which the log may not have yet.
	latest map[string]agent.Settings
	files  int
}

var (
	_ acp.Agent       = (*Server)(nil)
	_ acp.AgentLoader = (*Server)(nil)
)

// Serve serves a client until it leaves or ctx ends, and closes what it opened.
func Serve(ctx context.Context, cfg Config, in io.Reader, out io.Writer) error {
	s := &Server{cfg: cfg, hosts: map[string]Host{}, sessions: map[string]*session{}, latest: map[string]agent.Settings{}}
	s.ctx, s.end = context.WithCancel(ctx)
	defer s.end()
	s.conn = acp.NewAgentSideConnection(s, out, in)
	s.conn.SetLogger(slog.Default())
	select {
	case <-s.conn.Done():
	case <-ctx.Done():
	}
	return s.close()
}

// closePatience limits how long sessions take to end.
const closePatience = 30 * time.Second

func (s *Server) close() (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), closePatience)
	defer cancel()
	s.end()
	s.mu.Lock()
	hosts := s.hosts
	s.hosts = map[string]Host{}
	s.mu.Unlock()
	for _, h := range hosts {
		err = errors.Join(err, h.Close(ctx))
	}
	s.jobs.Wait()
	return err
}

// Initialize implements [acp.Agent].
func (s *Server) Initialize(_ context.Context, in acp.InitializeRequest) (acp.InitializeResponse, error) {
	s.mu.Lock()
	s.client = in.ClientCapabilities
	s.mu.Unlock()
	return acp.InitializeResponse{
		ProtocolVersion: acp.ProtocolVersionNumber,
		AgentInfo:       &acp.Implementation{Name: "atelier", Title: acp.Ptr("Atelier"), Version: s.cfg.Version},
		AuthMethods:     []acp.AuthMethod{},
		AgentCapabilities: acp.AgentCapabilities{
			LoadSession:        true,
			PromptCapabilities: acp.PromptCapabilities{EmbeddedContext: true, Image: true},
			McpCapabilities:    acp.McpCapabilities{Http: true},
			SessionCapabilities: acp.SessionCapabilities{
				List: &acp.SessionListCapabilities{}, Resume: &acp.SessionResumeCapabilities{}, Close: &acp.SessionCloseCapabilities{},
			},
		},
	}, nil
}

// Authenticate implements [acp.Agent]. Keys are those of Atelier's settings and environment.
func (s *Server) Authenticate(context.Context, acp.AuthenticateRequest) (acp.AuthenticateResponse, error) {
	return acp.AuthenticateResponse{}, nil
}

// NewSession implements [acp.Agent].
func (s *Server) NewSession(ctx context.Context, in acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	host, err := s.host(ctx, in.Cwd, in.McpServers)
	if err != nil {
		return acp.NewSessionResponse{}, err
	}
	info, err := call[backend.SessionInfo](ctx, host, "sessions.create", struct{}{})
	if err != nil {
		return acp.NewSessionResponse{}, err
	}
	one, err := s.begin(ctx, host, info)
	if err != nil {
		return acp.NewSessionResponse{}, err
	}
	modes, options := one.choices(ctx)
	s.jobs.Go(func() { one.tellCommands(s.ctx) })
	return acp.NewSessionResponse{SessionId: acp.SessionId(info.ID), Modes: modes, ConfigOptions: options}, nil
}

// LoadSession implements [acp.AgentLoader]: it shows the session's past, and then answers.
func (s *Server) LoadSession(ctx context.Context, in acp.LoadSessionRequest) (acp.LoadSessionResponse, error) {
	one, err := s.resume(ctx, in.Cwd, string(in.SessionId), in.McpServers, true)
	if err != nil {
		return acp.LoadSessionResponse{}, err
	}
	modes, options := one.choices(ctx)
	return acp.LoadSessionResponse{Modes: modes, ConfigOptions: options}, nil
}

// ResumeSession implements [acp.Agent]: it goes on without showing the past.
func (s *Server) ResumeSession(ctx context.Context, in acp.ResumeSessionRequest) (acp.ResumeSessionResponse, error) {
	one, err := s.resume(ctx, in.Cwd, string(in.SessionId), in.McpServers, false)
	if err != nil {
		return acp.ResumeSessionResponse{}, err
	}
	modes, options := one.choices(ctx)
	return acp.ResumeSessionResponse{Modes: modes, ConfigOptions: options}, nil
}

func (s *Server) resume(ctx context.Context, cwd, id string, servers []acp.McpServer, replay bool) (*session, error) {
	host, err := s.host(ctx, cwd, servers)
	if err != nil {
		return nil, err
	}
	info, err := call[backend.SessionInfo](ctx, host, "sessions.get", map[string]string{"session": id})
	if err != nil {
		return nil, err
	}
	one, err := s.begin(ctx, host, info)
	if err != nil {
		return nil, err
	}
	if replay {
		if err := one.replay(ctx); err != nil {
			return nil, err
		}
	}
	s.jobs.Go(func() { one.tellCommands(s.ctx) })
	return one, nil
}

// ListSessions implements [acp.Agent].
func (s *Server) ListSessions(ctx context.Context, in acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	out := acp.ListSessionsResponse{Sessions: []acp.SessionInfo{}}
	host, err := s.anyHost(ctx, in.Cwd)
	if err != nil || host == nil {
		return out, err
	}
	request := map[string]any{"limit": listPage, "everywhere": in.Cwd == nil}
	if in.Cursor != nil {
		if !json.Valid([]byte(*in.Cursor)) {
			return out, acp.NewInvalidParams("the cursor is none of this agent")
		}
		request["after"] = json.RawMessage(*in.Cursor)
	}
	page, err := call[backend.SessionPage](ctx, host, "sessions.list", request)
	if err != nil {
		return out, err
	}
	for _, info := range page.Sessions {
		one := acp.SessionInfo{SessionId: acp.SessionId(info.ID), Cwd: info.Folder, UpdatedAt: acp.Ptr(time.UnixMilli(info.UpdatedAt).UTC().Format(time.RFC3339))}
		if info.Title != "" {
			one.Title = &info.Title
		}
		out.Sessions = append(out.Sessions, one)
	}
	if page.Next != nil {
		next, err := json.Marshal(page.Next)
		if err != nil {
			return out, fmt.Errorf("encode a cursor: %w", err)
		}
		out.NextCursor = acp.Ptr(string(next))
	}
	return out, nil
}

// CloseSession implements [acp.Agent]. The session stays in its list.
func (s *Server) CloseSession(ctx context.Context, in acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	s.mu.Lock()
	one := s.sessions[string(in.SessionId)]
	delete(s.sessions, string(in.SessionId))
	s.mu.Unlock()
	if one == nil {
		return acp.CloseSessionResponse{}, unknown(in.SessionId)
	}
	err := one.interrupt(ctx)
	one.stop()
	return acp.CloseSessionResponse{}, err
}

// Prompt implements [acp.Agent].
func (s *Server) Prompt(ctx context.Context, in acp.PromptRequest) (acp.PromptResponse, error) {
	one, err := s.session(in.SessionId)
	if err != nil {
		return acp.PromptResponse{}, err
	}
	return one.prompt(ctx, in.Prompt)
}

// Cancel implements [acp.Agent].
func (s *Server) Cancel(ctx context.Context, in acp.CancelNotification) error {
	one, err := s.session(in.SessionId)
	if err != nil {
		return err
	}
	return one.interrupt(ctx)
}

// SetSessionMode implements [acp.Agent].
func (s *Server) SetSessionMode(ctx context.Context, in acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	one, err := s.session(in.SessionId)
	if err == nil {
		err = one.set(ctx, optionMode, string(in.ModeId))
	}
	return acp.SetSessionModeResponse{}, err
}

// SetSessionConfigOption implements [acp.Agent].
func (s *Server) SetSessionConfigOption(ctx context.Context, in acp.SetSessionConfigOptionRequest) (acp.SetSessionConfigOptionResponse, error) {
	if in.ValueId == nil {
		return acp.SetSessionConfigOptionResponse{}, acp.NewInvalidParams("there is no such option")
	}
	one, err := s.session(in.ValueId.SessionId)
	if err == nil {
		err = one.set(ctx, string(in.ValueId.ConfigId), string(in.ValueId.Value))
	}
	if err != nil {
		return acp.SetSessionConfigOptionResponse{}, err
	}
	_, options := one.choices(ctx)
	return acp.SetSessionConfigOptionResponse{ConfigOptions: options}, nil
}

// begin lists a session and starts the goroutine that tells the client of it.
func (s *Server) begin(_ context.Context, host Host, info backend.SessionInfo) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.sessions[info.ID]; one != nil {
		return one, nil
	}
	if len(s.sessions) >= maxSessions {
		return nil, acp.NewInvalidRequest("too many sessions are open; close one of them")
	}
	if set, ok := s.latest[info.ID]; ok {
		info.Settings = set
	}
	one := newSession(s, host, info)
	s.sessions[info.ID] = one
	s.jobs.Go(one.run)
	return one, nil
}

func (s *Server) session(id acp.SessionId) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.sessions[string(id)]; one != nil {
		return one, nil
	}
	return nil, unknown(id)
}

func unknown(id acp.SessionId) error {
	return acp.NewInvalidParams(fmt.Sprintf("the session %s is not open; load or resume it", id))
}

// chose remembers settings until the log has them.
func (s *Server) chose(id string, set agent.Settings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.latest) >= 4*maxSessions {
		clear(s.latest)
	}
	s.latest[id] = set
}

// observe passes an event to its session.
func (s *Server) observe(ev agent.Event) {
	s.mu.Lock()
	one := s.sessions[ev.Session]
	if change, ok := ev.Data.(agent.SettingsChange); ok && change.Settings == s.latest[ev.Session] {
		delete(s.latest, ev.Session)
	}
	s.mu.Unlock()
	if one != nil {
		one.add(ev)
	}
}

// host returns the application on a folder, with the client's servers.
func (s *Server) host(ctx context.Context, folder string, servers []acp.McpServer) (Host, error) {
	if !filepath.IsAbs(folder) {
		return nil, acp.NewInvalidParams("cwd has to be an absolute path")
	}
	s.open.Lock()
	defer s.open.Unlock()
	s.mu.Lock()
	host, n := s.hosts[folder], len(s.hosts)
	s.mu.Unlock()
	if host == nil {
		if n >= maxHosts {
			return nil, acp.NewInvalidRequest("sessions in too many folders are open")
		}
		var err error
		if host, err = s.cfg.Open(context.WithoutCancel(ctx), folder, s.observe); err != nil {
			return nil, refused(err)
		}
		s.mu.Lock()
		s.hosts[folder] = host
		s.mu.Unlock()
	}
	if len(servers) > 0 {
		file, err := s.serverFile(servers)
		if err == nil {
			err = host.IncludeServers(file)
		}
		if err != nil {
			return nil, refused(err)
		}
	}
	return host, nil
}

// anyHost returns the application on a folder, or any one that is open; nil if there is none.
func (s *Server) anyHost(ctx context.Context, folder *string) (Host, error) {
	if folder != nil {
		return s.host(ctx, *folder, nil)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, host := range s.hosts {
		return host, nil
	}
	return nil, nil
}

// call runs a method of a host and decodes its reply.
func call[Out any](ctx context.Context, host Host, method string, args any) (out Out, err error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return out, fmt.Errorf("encode a call of %s: %w", method, err)
	}
	var reply struct {
		OK    Out            `json:"ok"`
		Error *backend.Error `json:"error"`
	}
	if err := json.Unmarshal([]byte(host.Call(ctx, method, string(raw))), &reply); err != nil {
		return out, fmt.Errorf("decode the reply of %s: %w", method, err)
	}
	if reply.Error != nil {
		return out, refused(reply.Error)
	}
	return reply.OK, nil
}

// refused is a problem as the client shows it.
func refused(err error) error {
	e := backend.AsError(err)
	code := -32603
	if slices.Contains([]backend.Code{backend.CodeInvalid, backend.CodeNotFound, backend.CodeBusy}, e.Code) {
		code = -32602
	}
	return &acp.RequestError{Code: code, Message: e.Error(), Data: map[string]any{"id": e.ID, "details": cmp.Or(e.Details, "")}}
}
