package salla_test

import "github.com/socialdata/socialdata/providers/providertest"

// officialDrift has no exceptions.
func officialDrift() *providertest.Drift { return &providertest.Drift{} }

// ownDrift says that null ends the list, and that a product without variants has no starting price.
func ownDrift() *providertest.Drift {
	return &providertest.Drift{Absent: []string{"cursor.next", "data[].starting_price"}}
}
