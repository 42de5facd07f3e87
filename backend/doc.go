// Package backend is the domain of the application: the records of sessions,
// costs and preferences, the [Store] that keeps them, and the [Error] that
// people see. The packages below it do the work: models knows the providers,
// live runs sessions, feed carries events to the pages that watch, and
// workbench combines them into the methods that hosts call.
//
// What Go tells a user is an id with arguments and its English beside it ([Problem], and
// agent.Failed, agent.Warn, agent.Because). The page has a Chinese sentence for each id. Front ends
// branch on an error's code, never on its id. A provider's own words are in the details.
package backend

// Empty is a request or reply without content.
type Empty struct{}
