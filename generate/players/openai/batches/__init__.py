"""OpenAI's batch protocol: requests as a file, answered within a day for part of the price.

wire      the four addresses: files, batches, a batch, a file's content
answers   what they answer, read without trusting its shape
store     which requests are in which batch, on disk before it is made; and the answers that have come
desk      collects requests, makes batches of them, waits for these, and hands each request its answer
"""
