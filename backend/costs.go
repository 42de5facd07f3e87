package backend

import "atelier.dev/atelier/agent/llm"

// CostLine is the usage and cost of a group of requests. Provider and Model,
// Session, or Day names the group.
type CostLine struct {
	Provider string       `json:"provider,omitempty"`
	Model    string       `json:"model,omitempty"`
	Session  string       `json:"session,omitempty"`
	Title    string       `json:"title,omitempty"` // empty for deleted sessions
	Day      string       `json:"day,omitempty"`   // YYYY-MM-DD, in local time
	Requests int          `json:"requests"`
	Usage    llm.Usage    `json:"usage"`
	Cost     llm.Spending `json:"cost"`
}

// CostSummary sums the spending in three ways (OAS-114, OAS-712). Models are
// ordered by cost, the most expensive first, sessions and days by time, the
// newest first.
type CostSummary struct {
	Total    CostLine   `json:"total"`
	Models   []CostLine `json:"models,omitempty"`
	Sessions []CostLine `json:"sessions,omitempty"`
	Days     []CostLine `json:"days,omitempty"`
}
