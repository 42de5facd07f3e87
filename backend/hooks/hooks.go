// Package hooks keeps the programs that users and projects attach to sessions: where
// they are written, whether they may run, and what each of them did.
package hooks

import (
	"context"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// Hooks keeps the hooks of one folder. It is safe for concurrent use.
type Hooks struct{}

// New returns the hooks of a folder.
func New() *Hooks { return &Hooks{} }

// List lists the hooks of all settings files.
func (h *Hooks) List(context.Context, HooksRequest) (HooksReply, error) { return HooksReply{}, nil }

// Switch switches a hook on or off.
func (h *Hooks) Switch(context.Context, HookSwitchRequest) (backend.Empty, error) {
	return backend.Empty{}, errMissing
}

// errMissing answers a request about a hook that is not there.
var errMissing = backend.Problem(backend.ProblemHookMissing)

// errEntry answers a request about an entry that the log does not have.
var errEntry = backend.Problem(backend.ProblemHookEntry)

// Log lists what was considered.
func (h *Hooks) Log(context.Context, HookLogRequest) (HookLogReply, error) {
	return HookLogReply{}, nil
}

// Entry returns an entry of the log in full.
func (h *Hooks) Entry(context.Context, HookEntryRequest) (HookLogEntry, error) {
	return HookLogEntry{}, errEntry
}

// Replay runs the hook of an entry again.
func (h *Hooks) Replay(context.Context, HookReplayRequest) (HookLogEntry, error) {
	return HookLogEntry{}, errEntry
}

// DryRun says which past calls a draft would have matched.
func (h *Hooks) DryRun(context.Context, HookDryRunRequest) (HookDryRunReply, error) {
	return HookDryRunReply{}, nil
}

// Test runs a draft.
func (h *Hooks) Test(context.Context, HookTestRequest) (HookLogEntry, error) {
	return HookLogEntry{}, errMissing
}

// Save writes a draft to a settings file.
func (h *Hooks) Save(context.Context, HookSaveRequest) (HookRow, error) {
	return HookRow{}, backend.Problem(backend.ProblemHookScope)
}

// Remove takes a hook out of its file.
func (h *Hooks) Remove(context.Context, HookRemoveRequest) (backend.Empty, error) {
	return backend.Empty{}, errMissing
}

// Points says what the hooks of each point are told and may answer.
func (h *Hooks) Points(context.Context, backend.Empty) (HookPointsReply, error) {
	var reply HookPointsReply
	for _, in := range agent.HookInputs() {
		reply.Points = append(reply.Points, HookPointInfo{Point: in.Point(), Example: []byte("{}")})
	}
	return reply, nil
}

// Templates lists hooks to begin with.
func (h *Hooks) Templates(context.Context, backend.Empty) (HookTemplatesReply, error) {
	return HookTemplatesReply{Templates: templates}, nil
}

// ListTrust lists everything that the folder can make Atelier run.
func (h *Hooks) ListTrust(context.Context, backend.Empty) (TrustReply, error) {
	return TrustReply{}, nil
}

// ShowTrust returns what would run.
func (h *Hooks) ShowTrust(context.Context, TrustRequest) (TrustShown, error) {
	return TrustShown{}, errMissing
}

// AcceptTrust trusts what was shown.
func (h *Hooks) AcceptTrust(context.Context, TrustAcceptRequest) (backend.Empty, error) {
	return backend.Empty{}, errMissing
}

// RefuseTrust refuses an item.
func (h *Hooks) RefuseTrust(context.Context, TrustRequest) (backend.Empty, error) {
	return backend.Empty{}, errMissing
}

// RevokeTrust forgets what was decided about an item.
func (h *Hooks) RevokeTrust(context.Context, TrustRequest) (backend.Empty, error) {
	return backend.Empty{}, errMissing
}
