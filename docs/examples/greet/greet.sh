#!/bin/sh
# Greets people.
echo "Hello, world!"
