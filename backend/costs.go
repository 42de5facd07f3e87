package backend

import (
	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

// CostLine is the usage and cost of a group of requests. Provider and Model,
// Session, Day, Turn, or Purpose names the group.
type CostLine struct {
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	Session  string `json:"session,omitempty"`
	Title    string `json:"title,omitempty"` // empty for deleted sessions
	Day      string `json:"day,omitempty"`   // YYYY-MM-DD, in local time
	// Turn is a turn of the session that is asked about, without its agents.
	Turn     int           `json:"turn,omitempty"`
	Purpose  agent.Purpose `json:"purpose,omitempty"`
	Requests int           `json:"requests"`
	Usage    llm.Usage     `json:"usage"`
	Cost     llm.Spending  `json:"cost"`
}

// CostSummary sums the spending in a few ways (OAS-114, OAS-712). Models and purposes
// are ordered by cost, the most expensive first, sessions, days and turns by time, the
// newest first. Of all sessions together there are no turns.
type CostSummary struct {
	Total    CostLine   `json:"total"`
	Models   []CostLine `json:"models,omitempty"`
	Sessions []CostLine `json:"sessions,omitempty"`
	Days     []CostLine `json:"days,omitempty"`
	Turns    []CostLine `json:"turns,omitempty"`
	Purposes []CostLine `json:"purposes,omitempty"`
}
