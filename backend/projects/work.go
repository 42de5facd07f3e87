package projects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/instance"
)

// The limits of the list of work: folders that are looked at, sessions that are listed of each
// group, and how long ago something failed or was done that is still listed.
const (
	maxWorkplaces = 50
	maxWork       = 100
	failedSince   = 7 * 24 * time.Hour
	doneSince     = 24 * time.Hour
)

// WorkGroup says what a session needs.
type WorkGroup string

// The groups, in the order in which they are listed.
const (
	WorkNeeds  WorkGroup = "needs"   // waits for the user
	WorkWorks  WorkGroup = "working" // a process works on it
	WorkFailed WorkGroup = "failed"  // ended otherwise than done, or its process is gone
	WorkIsDone WorkGroup = "done"    // done within a day
)

// stopPatience limits how long another process may take to answer.
const stopPatience = 3 * time.Second

// Work is a session of any project.
type Work struct {
	Group   WorkGroup       `json:"group"`
	Folder  string          `json:"folder"`
	Name    string          `json:"name"` // of the project
	Session string          `json:"session"`
	Title   string          `json:"title,omitempty"`
	Agent   bool            `json:"agent,omitempty"`
	Model   string          `json:"model"`
	End     agent.EndReason `json:"end,omitempty"`
	Cost    llm.Spending    `json:"cost"`
	// UpdatedAt is in milliseconds since 1970.
	UpdatedAt int64 `json:"updated_at"`
	Current   bool  `json:"current,omitempty"` // in the open project
}

// WorkList answers projects.work. More counts what is not listed.
type WorkList struct {
	Work []Work `json:"work,omitempty"`
	More int    `json:"more,omitempty"`
}

// work answers projects.work: what works, waits, failed and was done in all projects.
func (p *Projects) work(ctx context.Context, _ backend.Empty) (WorkList, error) {
	folders, err := p.cfg.Store.Folders(ctx, maxWorkplaces)
	if err != nil {
		return WorkList{}, err
	}
	var all []backend.SessionInfo
	seen := map[string]bool{}
	for _, f := range folders {
		open, err := p.cfg.Store.Unsettled(ctx, f.Folder)
		if err != nil {
			return WorkList{}, err
		}
		newest, err := p.cfg.Store.SessionPage(ctx, backend.SessionQuery{Folder: f.Folder, Limit: maxWork})
		if err != nil {
			return WorkList{}, err
		}
		for _, info := range append(open, newest.Sessions...) {
			if info.Marks.Deleted == 0 && !seen[info.ID] {
				seen[info.ID] = true
				all = append(all, info)
			}
		}
	}
	dead := p.dead(all)
	var list WorkList
	listed := map[WorkGroup]int{}
	for _, info := range all {
		group := groupOf(info, dead[info.ID], time.Now())
		if group == "" {
			continue
		}
		if listed[group]++; listed[group] > maxWork {
			list.More++
			continue
		}
		list.Work = append(list.Work, Work{
			Group: group, Folder: info.Folder, Name: filepath.Base(info.Folder), Session: info.ID, Title: cmp.Or(info.Title, taskOf(info)),
			Agent: info.Helper != nil, Model: info.Settings.Model, End: info.LastEnd, Cost: info.Cost, UpdatedAt: info.UpdatedAt,
			Current: info.Folder == p.cfg.Folder,
		})
	}
	order := []WorkGroup{WorkNeeds, WorkWorks, WorkFailed, WorkIsDone}
	slices.SortStableFunc(list.Work, func(a, b Work) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Group), slices.Index(order, b.Group)), cmp.Compare(b.UpdatedAt, a.UpdatedAt))
	})
	return list, nil
}

func taskOf(info backend.SessionInfo) string {
	if info.Helper == nil {
		return ""
	}
	return cmp.Or(info.Helper.Name, info.Helper.Label, info.Helper.Task)
}

func isOpen(info backend.SessionInfo) bool {
	return info.State == agent.StateProcessing || info.State == agent.StateAwaitingInput
}

// groupOf returns the group of a session; empty if it is not listed.
func groupOf(info backend.SessionInfo, dead bool, now time.Time) WorkGroup {
	ago := now.Sub(time.UnixMilli(info.UpdatedAt))
	switch {
	case isOpen(info) && dead:
		return WorkFailed
	case info.State == agent.StateAwaitingInput:
		return WorkNeeds
	case info.State == agent.StateProcessing:
		return WorkWorks
	case info.LastEnd == agent.EndDone && ago < doneSince:
		return WorkIsDone
	case info.LastEnd != "" && info.LastEnd != agent.EndDone && info.LastEnd != agent.EndInterrupted && ago < failedSince:
		return WorkFailed
	}
	return ""
}

// dead returns the sessions that are in the middle of a turn on which no process works: nobody
// has their lease.
func (p *Projects) dead(all []backend.SessionInfo) map[string]bool {
	var (
		mu    sync.Mutex
		found = map[string]bool{}
		looks sync.WaitGroup
	)
	for _, info := range all {
		if !isOpen(info) {
			continue
		}
		looks.Go(func() {
			if release, err := p.cfg.Store.Lease(info.ID); err == nil {
				release()
				mu.Lock()
				found[info.ID] = true
				mu.Unlock()
			}
		})
	}
	looks.Wait()
	return found
}

// StopRequest is for projects.stop.
type StopRequest struct {
	Session string `json:"session"`
}

// stop answers projects.stop: it stops a session, with its agents, in whatever process works on
// it.
func (p *Projects) stop(ctx context.Context, in StopRequest) (backend.Empty, error) {
	if err := backend.CheckSessionID(in.Session); err != nil {
		return backend.Empty{}, err
	}
	info, err := p.cfg.Store.Session(ctx, in.Session)
	if err != nil {
		return backend.Empty{}, err
	}
	if info.Folder == p.cfg.Folder && !p.cfg.Unattended {
		p.cfg.Interrupt(info.ID)
		return backend.Empty{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	reply, err := instance.AskRunning(ctx, p.cfg.Home, info.Folder, instance.Request{Do: instance.Stop, Session: info.ID})
	if err == nil && reply.Error != "" {
		err = errors.New(reply.Error)
	}
	if err != nil {
		return backend.Empty{}, backend.Problem(backend.ProblemStopUnreached, info.Folder).Detailed(err.Error()).Because(err)
	}
	return backend.Empty{}, nil
}

// PrintWork writes a list of work for a terminal. Clean makes a name fit to be shown.
func PrintWork(out io.Writer, list WorkList, clean func(string) string) error {
	headings := map[WorkGroup]string{WorkNeeds: "Needs you", WorkWorks: "Working", WorkFailed: "Failed", WorkIsDone: "Done today"}
	var b strings.Builder
	var last WorkGroup
	for _, w := range list.Work {
		if w.Group != last {
			fmt.Fprintf(&b, "%s\n", headings[w.Group])
			last = w.Group
		}
		who := w.Title
		if w.Agent {
			who = "agent: " + who
		}
		fmt.Fprintf(&b, "  %s  %s  %s  %s\n", w.Session, clean(w.Name), clean(who), clean(w.Model))
	}
	if list.More > 0 {
		fmt.Fprintf(&b, "%d more are not listed.\n", list.More)
	}
	if len(list.Work) == 0 {
		b.WriteString("Nothing works, waits or failed.\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}
