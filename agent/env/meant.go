package env

// meant adds to the error about a path that does not exist which file may be meant.
func (l *Local) meant(err error) error { return err }
