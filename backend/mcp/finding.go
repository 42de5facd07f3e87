package mcp

import "atelier.dev/atelier/agent"

// ServerFindingID names a kind of finding, for those who word it in another
// language.
type ServerFindingID string

// The findings, each with the arguments of its sentence.
const (
	FindingNotObject       ServerFindingID = "not_object"       //
	FindingNameEmpty       ServerFindingID = "name_empty"       //
	FindingNameUnderscores ServerFindingID = "name_underscores" //
	FindingNameLong        ServerFindingID = "name_long"        // the limit
	FindingNameHidden      ServerFindingID = "name_hidden"      //
	FindingMember          ServerFindingID = "member"           // its name
	FindingUnknown         ServerFindingID = "unknown"          // its name
	FindingIgnored         ServerFindingID = "ignored"          // its name
	FindingTransport       ServerFindingID = "transport"        // the type
	FindingTypeAssumed     ServerFindingID = "type_assumed"     //
	FindingNothing         ServerFindingID = "nothing"          //
	FindingNoCommand       ServerFindingID = "no_command"       //
	FindingNoURL           ServerFindingID = "no_url"           //
	FindingURL             ServerFindingID = "url"              //
	FindingHeader          ServerFindingID = "header"           // its name
	FindingVariableName    ServerFindingID = "variable_name"    // the name
	FindingHelper          ServerFindingID = "helper"           //
	FindingEnvFile         ServerFindingID = "env_file"         // the file
	FindingTrustedIgnored  ServerFindingID = "trusted_ignored"  //
	FindingUnset           ServerFindingID = "unset"            // the variable
	FindingUnsetLeftOut    ServerFindingID = "unset_left_out"   // the variable, what it was for
	FindingInput           ServerFindingID = "input"            // its id
	FindingSecretMissing   ServerFindingID = "secret_missing"   // what it is for
	FindingSecretUnread    ServerFindingID = "secret_unread"    // what it is for
	FindingSecretInFile    ServerFindingID = "secret_in_file"   // what it is for
	FindingPlaceholder     ServerFindingID = "placeholder"      // what it is for
	FindingTakesName       ServerFindingID = "takes_name"       // the file of the other one
	FindingShadowed        ServerFindingID = "shadowed"         // the file that wins
	FindingShadows         ServerFindingID = "shadows"          // the file that does not
)

// findings are the English sentences, and whether the server can be connected all
// the same.
var findings = map[ServerFindingID]struct {
	harmless bool
	sentence string
}{
	FindingNotObject:       {false, "The definition is not a JSON object, or it has a member twice."},
	FindingNameEmpty:       {false, "The server has no name."},
	FindingNameUnderscores: {false, "A server's name must not have two underscores in a row."},
	FindingNameLong:        {false, "A server's name can have at most {0} characters."},
	FindingNameHidden:      {false, "The server's name contains invisible characters."},
	FindingMember:          {false, "{0} has a value that does not belong there."},
	FindingUnknown:         {true, "{0} has no meaning here."},
	FindingIgnored:         {true, "{0} is not used here."},
	FindingTransport:       {false, "There is no transport {0}."},
	FindingTypeAssumed:     {true, "The type is missing. Streamable HTTP is assumed."},
	FindingNothing:         {false, "The definition has neither a command nor an address."},
	FindingNoCommand:       {false, "The command is missing."},
	FindingNoURL:           {false, "The address is missing."},
	FindingURL:             {false, "The address is not an http or https address, or it contains a password."},
	FindingHeader:          {false, "The header {0} cannot be sent."},
	FindingVariableName:    {false, "{0} cannot be the name of a variable."},
	FindingHelper:          {true, "headersHelper names a program. It is not run."},
	FindingEnvFile:         {true, "{0} is not read. Name the variables in env."},
	FindingTrustedIgnored:  {true, "The project says that the server's hints are to be believed. Only your own settings can say so."},
	FindingUnset:           {false, "The variable {0} is not set."},
	FindingUnsetLeftOut:    {true, "The variable {0} is not set, so {1} is left out."},
	FindingInput:           {false, "You have to enter the value {0}. Import the server to do so."},
	FindingSecretMissing:   {false, "The secret for {0} is not stored on this machine. Enter it."},
	FindingSecretUnread:    {false, "The secret for {0} could not be read from the keyring."},
	FindingSecretInFile:    {true, "Everybody who can read the file can read the value of {0}. Enter it here to keep it in the keyring."},
	FindingPlaceholder:     {true, "The value of {0} looks like a placeholder."},
	FindingTakesName:       {true, "Once you trust it, it takes the place of the server of this name in {0}, and rules for that one hold for it."},
	FindingShadows:         {true, "{0} defines a server of this name, too. This one counts."},
	FindingShadowed:        {true, "{0} defines a server of this name, which wins."},
}

func finding(id ServerFindingID, args ...string) ServerFinding {
	f := findings[id]
	return ServerFinding{ID: id, Args: args, Message: agent.Fill(f.sentence, args), Harmless: f.harmless}
}
