package workbench

import (
	"context"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/mcp/offer"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend/mcp"
)

// newServers returns the servers of the folder.
func (w *Workbench) newServers() *mcp.Servers {
	return mcp.New(mcp.Config{
		Folder: w.cfg.Folder, User: userHome(w.cfg), Version: w.cfg.Version, Store: w.cfg.Store, Keys: w.cfg.Keys, Trust: w.trust,
		Getenv: w.cfg.Getenv, Environ: sandbox.Environ, Changed: w.tellServers, Questions: mcp.NewQuestions(w.asking),
		Watch: func() { w.hooks.Watch() },
	})
}

// offered returns what servers offer to a session.
func (w *Workbench) offered(session string, past []agent.Event) *offer.Session {
	return w.servers.Session(offer.Config{
		Session: session, Loaded: offer.Loaded(agent.NotTakenBack(past)), Began: w.asking.began(session),
		Window: func(provider, model string) int64 { return w.providers.Limits(provider, model).Window },
	})
}

// TrustServers trusts the servers that stand there until the program ends, and
// returns how many they are.
func (w *Workbench) TrustServers(ctx context.Context) (int, error) { return w.servers.TrustForRun(ctx) }

// IncludeServers adds files of servers until the program ends; see
// [mcp.Servers.Include].
func (w *Workbench) IncludeServers(files ...string) error { return w.servers.Include(files...) }

// SettleServers connects the servers, and waits until each is connected or is known
// not to be, or until ctx ends.
func (w *Workbench) SettleServers(ctx context.Context) {
	w.servers.Begin()
	w.servers.Settle(ctx)
}

// tellServers tells pages that there is news about servers.
func (w *Workbench) tellServers() {
	w.feed.Publish(agent.Event{At: time.Now().UnixMilli(), Data: agent.ServersChange{}})
}

// listServers is mcp.list. It says whether the model of a session finds tools by
// searching.
func (w *Workbench) listServers(ctx context.Context, in mcp.ServersRequest) (mcp.ServersReply, error) {
	reply, err := w.servers.List(ctx, in)
	if err != nil || in.Session == "" {
		return reply, err
	}
	if info, err := w.session(ctx, in.Session); err == nil {
		window := w.providers.Limits(info.Settings.Provider, info.Settings.Model).Window
		tools := 0
		for _, row := range reply.Servers {
			if row.State == mcp.StateConnected && !row.SessionOff {
				tools += row.Counts.Tools - row.Counts.ToolsOff
			}
		}
		reply.Deferred = offer.Defers(window, reply.Tokens, tools)
	}
	return reply, nil
}
