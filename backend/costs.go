package backend

import "atelier.dev/atelier/agent/llm"

// CostLine is what some requests held and cost. It says which ones by Provider
// and Model, by Session, or by Day.
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

// CostSummary is what was spent, seen from three sides (OAS-114, OAS-712). Its
// models come dearest first, its sessions and days newest first.
type CostSummary struct {
	Total    CostLine   `json:"total"`
	Models   []CostLine `json:"models,omitempty"`
	Sessions []CostLine `json:"sessions,omitempty"`
	Days     []CostLine `json:"days,omitempty"`
}
