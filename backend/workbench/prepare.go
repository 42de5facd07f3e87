package workbench

import (
	"sync"

	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/agent/profile"
	"atelier.dev/atelier/backend/models"
)

// Prepared is what a first session needs and no database has: the catalogue of models,
// and the tables of the tools' names.
type Prepared struct {
	catalogue func() (*catalogue.Catalogue, error)
	making    sync.WaitGroup
}

// Prepare begins to make it, while the database is opened. It returns at once; whoever
// needs a part that is not ready waits for it. provider is whose model will be asked;
// empty if that is not known yet. A workbench that has it in its [Config] waits for the
// end of this when it closes; without one, the caller calls Wait.
func Prepare(home, provider string) *Prepared {
	p := &Prepared{catalogue: models.Catalogue(home)}
	p.making.Go(func() { // ends by itself, within milliseconds
		profile.Prepare(provider)
		_, _ = p.catalogue() // whoever lists models learns of faults in the user's rows
	})
	return p
}

// Wait returns once nothing is being made any more. It returns at once for nil.
func (p *Prepared) Wait() {
	if p != nil {
		p.making.Wait()
	}
}
