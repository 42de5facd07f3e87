package agents

import (
	"context"
	"errors"
	"strings"
	"time"

	"atelier.dev/atelier/agent/board"
	"atelier.dev/atelier/agent/team"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
)

// Register registers the methods of the panel Agents.
func (t *Teams) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "agents.together", t.together)
	dispatch.Handle(d, "agents.task", t.changeTask)
}

// TogetherRequest asks for what a session and its agents share. The session may be one of
// the agents.
type TogetherRequest struct {
	Session string `json:"session"`
}

// Together is what a session and its agents share.
type Together struct {
	// Session is that of the user.
	Session  string         `json:"session"`
	Tasks    []BoardTask    `json:"tasks,omitempty"`
	Teams    []AgentTeam    `json:"teams,omitempty"`
	Messages []AgentMessage `json:"messages,omitempty"`
}

// BoardTask is a [board.Task], with the tasks that it waits for and that are not completed.
type BoardTask struct {
	ID          string   `json:"id"`
	Subject     string   `json:"subject"`
	Description string   `json:"description,omitempty"`
	Status      string   `json:"status"`
	Owner       string   `json:"owner,omitempty"`
	Output      string   `json:"output,omitempty"`
	BlockedBy   []string `json:"blocked_by,omitempty"`
	Open        []string `json:"open,omitempty"`
}

// AgentTeam is a [team.Team]. Members are its names, without the leader.
type AgentTeam struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Leader    string   `json:"leader"`
	Members   []string `json:"members,omitempty"`
	Disbanded bool     `json:"disbanded,omitempty"`
}

// AgentMessage is a [team.Message], with the sessions of its writer and its reader as far as they
// exist.
type AgentMessage struct {
	ID     string `json:"id"`
	From   string `json:"from"`
	To     string `json:"to"`
	Type   string `json:"type"`
	Text   string `json:"text"`
	At     int64  `json:"at"`
	State  string `json:"state"`
	Writer string `json:"writer,omitempty"`
	Reader string `json:"reader,omitempty"`
}

// mostShown is how many messages the panel shows.
const mostShown = 200

func (t *Teams) together(ctx context.Context, in TogetherRequest) (out Together, err error) {
	info, err := t.cfg.Check(ctx, in.Session)
	if err != nil {
		return out, err
	}
	out.Session = Root(info)
	b, err := t.cfg.Store.Board(ctx, out.Session)
	if err != nil {
		return out, err
	}
	for _, k := range b.Tasks {
		out.Tasks = append(out.Tasks, BoardTask{k.ID, k.Subject, k.Description, string(k.Status), k.Owner, k.Output, k.BlockedBy, b.Open(k)})
	}
	roster, err := t.cfg.Store.Teams(ctx, out.Session)
	if err != nil {
		return out, err
	}
	for _, of := range roster.Teams {
		out.Teams = append(out.Teams, AgentTeam{of.ID, of.Name, of.LeaderID, of.Names(), of.Status != team.Active})
	}
	messages, err := t.cfg.Store.Messages(ctx, out.Session, mostShown)
	if err != nil || len(messages) == 0 {
		return out, err
	}
	helpers, err := t.cfg.Store.Helpers(ctx, out.Session)
	sessions := map[string]string{team.Self: out.Session}
	for _, info := range helpers {
		sessions[Name(info)] = info.ID
	}
	for _, m := range messages {
		out.Messages = append(out.Messages, AgentMessage{m.ID, m.From, m.To, string(m.Type), m.Text, m.At, string(m.State), sessions[m.From], sessions[m.To]})
	}
	return out, err
}

// TaskEdit is a person's change of a board. Without an id it adds a task; what is empty stays.
type TaskEdit struct {
	Session     string   `json:"session"`
	ID          string   `json:"id,omitempty"`
	Subject     string   `json:"subject,omitempty"`
	Description string   `json:"description,omitempty"`
	Status      string   `json:"status,omitempty"`
	Owner       string   `json:"owner,omitempty"`
	BlockedBy   []string `json:"blocked_by,omitempty"`
}

// The limits of what a person writes, in bytes.
const maxSubject, maxDescription = 300, 8000

func (t *Teams) changeTask(ctx context.Context, in TaskEdit) (Together, error) {
	info, err := t.cfg.Check(ctx, in.Session)
	if err != nil {
		return Together{}, err
	}
	in.Subject, in.Owner = strings.TrimSpace(in.Subject), strings.TrimSpace(in.Owner)
	if in.ID == "" && in.Subject == "" || len(in.Subject) > maxSubject || len(in.Description) > maxDescription || len(in.Owner) > maxSubject {
		return Together{}, backend.Problem(backend.ProblemTaskText)
	}
	status := board.Pending
	if in.ID != "" {
		status = ""
	}
	if in.Status != "" {
		if status, err = board.ParseStatus(in.Status); err != nil {
			return Together{}, backend.Problem(backend.ProblemTaskText)
		}
	}
	err = t.cfg.Store.ChangeBoard(ctx, Root(info), func(b *board.Board) error {
		if in.ID == "" {
			_, err := b.Create(board.Task{Subject: in.Subject, Description: in.Description, Owner: in.Owner, BlockedBy: in.BlockedBy, Status: status}, time.Now())
			return err
		}
		_, err := b.Update(board.Change{ID: in.ID, Subject: in.Subject, Description: in.Description, Status: status, Owner: in.Owner, BlockedBy: in.BlockedBy}, time.Now())
		return err
	})
	if err != nil {
		return Together{}, boardProblem(in.ID, err)
	}
	return t.together(ctx, TogetherRequest{in.Session})
}

// boardProblem explains to a person why a board was not changed.
func boardProblem(id string, err error) error {
	for cause, problem := range map[error]backend.ProblemID{
		board.ErrNoTask: backend.ProblemTaskGone, board.ErrFinal: backend.ProblemTaskFinal, board.ErrTaken: backend.ProblemTaskTaken,
		board.ErrCycle: backend.ProblemTaskCycle, board.ErrFull: backend.ProblemBoardFull,
	} {
		if errors.Is(err, cause) {
			return backend.Problem(problem, id)
		}
	}
	return err
}
