package archive

// ListWithin is [List] with another limit for what is unpacked.
var ListWithin = list
