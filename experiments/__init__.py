"""The experiments of Sawade's thesis (Active Evaluation of Predictive Models, 2013) on data that can be had.

``python -m experiments`` runs them all, ``python -m experiments figure_4_3`` one; docs/experiments.md reports them.

One experiment is one file in the folder of its chapter. What they share, in the order of use:

    data and models   benchmarks/data.py: data sets, classifiers and regressors from scikit-learn
    problems.py       pools with all their labels, built once and kept
    simulation.py     Algorithm 2 many times over: draws from the package's own designs, estimates, standard errors
    stratified.py     the same for online stratified sampling
    accuracy.py       from what all repetitions find to errors
    curves.py         errors over budgets, of these and of the package's own sessions, written down as soon as known
    rows.py           what was written down, read again
    figures.py        pictures
    experiment.py     what an experiment consists of, its command, its table in the page
"""
