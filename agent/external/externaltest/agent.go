// Package externaltest has an agent for tests, which does what its prompt says.
package externaltest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	acp "github.com/coder/acp-go-sdk"
)

// Arg is the argument with which a test's program becomes the agent.
const Arg = "external-agent"

// Main runs the agent and ends the program if it was started with [Arg]. A TestMain calls it first.
func Main() {
	if len(os.Args) > 1 && os.Args[1] == Arg {
		Serve(os.Stdin, os.Stdout)
		os.Exit(0)
	}
}

// Serve runs the agent until its input ends.
func Serve(in io.Reader, out io.Writer) {
	a := &scripted{stop: map[acp.SessionId]context.CancelFunc{}}
	a.conn = acp.NewAgentSideConnection(a, out, in)
	<-a.conn.Done()
}

// scripted is the agent. Each line of a prompt is a verb and its argument.
type scripted struct {
	acp.Agent
	conn *acp.AgentSideConnection

	mu    sync.Mutex
	n     int
	stop  map[acp.SessionId]context.CancelFunc
	calls int
}

// Initialize implements [acp.Agent].
func (a *scripted) Initialize(context.Context, acp.InitializeRequest) (acp.InitializeResponse, error) {
	return acp.InitializeResponse{
		ProtocolVersion: acp.ProtocolVersionNumber, AuthMethods: []acp.AuthMethod{},
		AgentInfo: &acp.Implementation{Name: "scripted", Title: acp.Ptr("Scripted"), Version: "1.2.3"},
	}, nil
}

// NewSession implements [acp.Agent].
func (a *scripted) NewSession(_ context.Context, in acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.n++
	category := acp.SessionConfigOptionCategoryModel
	return acp.NewSessionResponse{SessionId: acp.SessionId(fmt.Sprintf("s%d", a.n)), ConfigOptions: []acp.SessionConfigOption{{Select: &acp.SessionConfigOptionSelect{
		Id: "model", Name: "Model", Type: "select", Category: &category, CurrentValue: "small",
		Options: acp.SessionConfigSelectOptions{Ungrouped: &acp.SessionConfigSelectOptionsUngrouped{{Value: "small", Name: "Small"}, {Value: "large", Name: "Large"}}},
	}}}}, nil
}

// SetSessionConfigOption implements [acp.Agent].
func (a *scripted) SetSessionConfigOption(_ context.Context, in acp.SetSessionConfigOptionRequest) (acp.SetSessionConfigOptionResponse, error) {
	if in.ValueId == nil || in.ValueId.Value != "large" {
		return acp.SetSessionConfigOptionResponse{}, acp.NewInvalidParams("no such model")
	}
	return acp.SetSessionConfigOptionResponse{ConfigOptions: []acp.SessionConfigOption{}}, nil
}

// Cancel implements [acp.Agent].
func (a *scripted) Cancel(_ context.Context, in acp.CancelNotification) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if stop := a.stop[in.SessionId]; stop != nil {
		stop()
	}
	return nil
}

// Prompt implements [acp.Agent].
func (a *scripted) Prompt(ctx context.Context, in acp.PromptRequest) (acp.PromptResponse, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	a.mu.Lock()
	a.stop[in.SessionId] = stop
	a.mu.Unlock()
	var all []string
	for _, b := range in.Prompt {
		if b.Text != nil {
			all = append(all, b.Text.Text)
		}
	}
	script := strings.Join(all, "\n")
	if _, after, ok := strings.Cut(script, "</conversation>"); ok { // what was done before
		script = after
	}
	for line := range strings.Lines(script) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if said := a.do(ctx, in.SessionId, verb, rest, strings.Join(all, "\n")); said != "" {
			a.update(in.SessionId, acp.UpdateAgentMessageText(said))
		}
		if ctx.Err() != nil {
			return acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
		}
	}
	return acp.PromptResponse{StopReason: acp.StopReasonEndTurn, Usage: &acp.Usage{InputTokens: 70, OutputTokens: 5, TotalTokens: 75}}, nil
}

func (a *scripted) update(id acp.SessionId, u acp.SessionUpdate) {
	_ = a.conn.SessionUpdate(context.Background(), acp.SessionNotification{SessionId: id, Update: u})
}

// do does one line, and returns what to say of it.
func (a *scripted) do(ctx context.Context, id acp.SessionId, verb, rest, prompt string) string {
	switch verb {
	case "say":
		return rest + "\n"
	case "think":
		a.update(id, acp.UpdateAgentThoughtText(rest))
	case "echo": // says all that it was given
		return "[" + prompt + "]"
	case "read":
		out, err := a.conn.ReadTextFile(ctx, acp.ReadTextFileRequest{SessionId: id, Path: rest})
		return report("read", out.Content, err)
	case "write":
		path, content, _ := strings.Cut(rest, " ")
		_, err := a.conn.WriteTextFile(ctx, acp.WriteTextFileRequest{SessionId: id, Path: path, Content: content + "\n"})
		return report("wrote", path, err)
	case "run":
		return a.run(ctx, id, rest)
	case "permit":
		return a.permit(ctx, id, rest)
	case "cost":
		a.update(id, acp.SessionUpdate{UsageUpdate: &acp.SessionUsageUpdate{SessionUpdate: "usage_update", Used: 10, Size: 100, Cost: &acp.Cost{Amount: 0.25, Currency: "USD"}}})
	case "plan": // tasks, of which the first is under way; twice the same
		var entries []acp.PlanEntry
		for i, task := range strings.Split(rest, ",") {
			e := acp.PlanEntry{Content: task, Priority: acp.PlanEntryPriorityMedium, Status: acp.PlanEntryStatusPending}
			if i == 0 {
				e.Status = acp.PlanEntryStatusInProgress
			}
			entries = append(entries, e)
		}
		a.update(id, acp.UpdatePlan(entries...))
		a.update(id, acp.UpdatePlan(entries...))
	case "alone":
		a.alone(id, rest)
	case "lie":
		_, err := a.conn.ReadTextFile(ctx, acp.ReadTextFileRequest{SessionId: "another", Path: rest})
		a.update("another", acp.UpdateAgentMessageText("unheard"))
		_, err2 := a.conn.TerminalOutput(ctx, acp.TerminalOutputRequest{SessionId: id, TerminalId: "none"})
		return report("lied", "", err) + report("terminal", "", err2)
	case "flood":
		for i := 0; ; i++ {
			if err := a.conn.SessionUpdate(ctx, acp.SessionNotification{SessionId: id, Update: acp.UpdateAgentMessageText(strings.Repeat("x", 1<<16))}); err != nil || ctx.Err() != nil {
				return ""
			}
		}
	case "crowd": // many requests at once
		var jobs sync.WaitGroup
		for i := range 200 {
			jobs.Go(func() {
				_, _ = a.conn.ReadTextFile(ctx, acp.ReadTextFileRequest{SessionId: id, Path: fmt.Sprintf("%s/%d", rest, i)})
			})
		}
		jobs.Wait()
		return "all answered"
	case "die": // in a question
		go func() { _, _ = a.conn.RequestPermission(context.Background(), permission(id, "Die", "")) }()
		fmt.Fprintln(os.Stderr, "cannot go on")
		os.Exit(3)
	case "hang":
		<-ctx.Done()
	}
	return ""
}

func report(what, content string, err error) string {
	if err != nil {
		return what + " not: " + err.Error() + "\n"
	}
	return what + " " + content + "\n"
}

func (a *scripted) run(ctx context.Context, id acp.SessionId, line string) string {
	out, err := a.conn.CreateTerminal(ctx, acp.CreateTerminalRequest{SessionId: id, Command: line})
	if err != nil {
		return report("ran", "", err)
	}
	if _, err := a.conn.WaitForTerminalExit(ctx, acp.WaitForTerminalExitRequest{SessionId: id, TerminalId: out.TerminalId}); err != nil {
		return report("waited", "", err)
	}
	end, err := a.conn.TerminalOutput(ctx, acp.TerminalOutputRequest{SessionId: id, TerminalId: out.TerminalId})
	if err != nil {
		return report("output", "", err)
	}
	_, _ = a.conn.ReleaseTerminal(ctx, acp.ReleaseTerminalRequest{SessionId: id, TerminalId: out.TerminalId})
	status, _ := json.Marshal(end.ExitStatus)
	return fmt.Sprintf("ran %s %s\n", strings.TrimSpace(end.Output), status)
}

func permission(id acp.SessionId, title, command string) acp.RequestPermissionRequest {
	kind := acp.ToolKindExecute
	return acp.RequestPermissionRequest{
		SessionId: id, ToolCall: acp.ToolCallUpdate{ToolCallId: "ask", Title: &title, Kind: &kind, RawInput: map[string]any{"command": command}},
		Options: []acp.PermissionOption{
			{OptionId: "always", Name: "Always", Kind: acp.PermissionOptionKindAllowAlways},
			{OptionId: "yes", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce},
			{OptionId: "no", Name: "No", Kind: acp.PermissionOptionKindRejectOnce},
		},
	}
}

func (a *scripted) permit(ctx context.Context, id acp.SessionId, command string) string {
	out, err := a.conn.RequestPermission(ctx, permission(id, "Run it", command))
	if err != nil {
		return report("permitted", "", err)
	}
	if out.Outcome.Selected == nil {
		return "cancelled\n"
	}
	return "chosen " + string(out.Outcome.Selected.OptionId) + "\n"
}

// alone tells of something that it did by itself.
func (a *scripted) alone(id acp.SessionId, title string) {
	a.mu.Lock()
	a.calls++
	call := acp.ToolCallId(fmt.Sprintf("call%d", a.calls))
	a.mu.Unlock()
	a.update(id, acp.StartToolCall(call, title, acp.WithStartKind(acp.ToolKindEdit), acp.WithStartStatus(acp.ToolCallStatusInProgress)))
	a.update(id, acp.UpdateToolCall(call, acp.WithUpdateStatus(acp.ToolCallStatusCompleted), acp.WithUpdateContent([]acp.ToolCallContent{acp.ToolDiffContent("/tmp/alone.txt", "new\n", "old\n")})))
}
